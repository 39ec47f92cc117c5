// The page: the screen, connected with its server.

import { mount } from "./screen.js";
import { overHttp } from "./transport.js";

mount(document.getElementById("explore"), overHttp());
