// The page itself: the screen, with the server it came from.

import { mount } from "./screen.js";
import { overHttp } from "./transport.js";

mount(document.getElementById("explore"), overHttp());
