"""A thousand models that stream in keep the screen responsive, measured in Chromium."""

from pathlib import Path

import pytest
from support.screens import models, settled, show, state

LONGEST, USUAL = 200, 100  # milliseconds between two frames: ever, and for 95 of 100; a tenth of a second is at once
STREAM = Path(__file__).with_name("stream.js").read_text().split("\n", 2)[2]
WATCH = """() => {
  window.frames_seen = [];
  let last = performance.now();
  const frame = (now) => { window.frames_seen.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""


@pytest.mark.parametrize("tab", ["Model", "Models"])
def test_a_thousand_models_keep_it_responsive(look, tab):
    page = look()
    judge(page.evaluate(STREAM, [1000, 50, tab]))
    assert models(page) == 1000
    panel = show(page, "Models")
    panel.get_by_role("button", name="Show more").click()
    assert panel.locator("tbody tr").count() == 100


@pytest.mark.slow
def test_models_that_are_really_found_keep_it_responsive(screen):
    page = screen()
    page.evaluate(WATCH)
    page.keyboard.press("k")
    page.locator(".marks .mark >> nth=299").wait_for(timeout=300_000)
    page.get_by_role("button", name="Stop", exact=True).click()
    settled(page)
    judge(page.evaluate("window.frames_seen"))
    assert models(page) == len(state(page)["numbers"]) >= 300


def judge(frames: list[float]) -> None:
    frames = sorted(frames)
    assert (frames[-1] < LONGEST, frames[int(0.95 * len(frames))] < USUAL) == (True, True), frames[-10:]
