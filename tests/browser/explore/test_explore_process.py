"""The command in its own process: how soon its page appears, and what happens when it is killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.audits import applicants
from support.screens import current, models, press, settled, state, steps

OPTIONS = ("--label", "hired", "--favourable", "y", "--sensitive", "sex", "--no-browser")
TRIES, SOON = 15, 1.0  # seconds from the start of the command to the first words on the screen, on a warm machine

pytestmark = pytest.mark.slow  # processes take seconds to start


@pytest.fixture
def folder(tmp_path):
    applicants(420).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@contextmanager
def running(folder, port: int = 0):
    command = [Path(sys.executable).with_name("fairenum"), "explore", "people.csv", *OPTIONS, "--port", str(port)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_killed_server_is_missed_and_resumes(chromium, folder):
    port = free_port()
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    with running(folder, port) as (process, address):
        page.goto(address)
        page.locator(".facts").wait_for()
        press(page, "n")
        press(page, "f")
        before = (models(page), current(page), steps(page), state(page)["numbers"])
        os.kill(process.pid, signal.SIGKILL)
        page.get_by_role("alert").filter(has_text="does not answer").wait_for()
        assert page.get_by_role("button", name="Next best", exact=True).get_attribute("aria-disabled") == "true"
    with running(folder, port) as (_, address):
        page.get_by_role("alert").filter(has_text="Open the address that the terminal shows").wait_for()
        again = context.new_page()
        again.goto(address)
        again.locator(".facts").wait_for()
        settled(again)
        assert (models(again), current(again), steps(again), state(again)["numbers"]) == before
        page.bring_to_front()
        page.locator(".lamp[data-state=open]").wait_for()  # the cookie of the other tab lets this one in, too
        settled(page)
        assert not page.get_by_role("alert").filter(has_text="address").is_visible()
        press(page, "n")
        assert models(page) == before[0] + 1
    context.close()


def test_the_first_words_are_there_within_a_second(chromium, folder):
    """The fastest of several starts, as other load can only slow them down."""
    taken: list[float] = []
    while len(taken) < TRIES and min(taken, default=SOON) >= SOON:
        context = chromium.new_context()
        page = context.new_page()
        begun = time.time()
        with running(folder) as (_, address):
            page.goto(address, wait_until="commit")
            page.wait_for_url("**/")
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            painted = page.evaluate(
                "performance.timeOrigin + performance.getEntriesByName('first-contentful-paint')[0].startTime"
            )
            taken.append(painted / 1000 - begun)
        context.close()
    assert min(taken) < SOON, taken
