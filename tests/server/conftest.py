"""What tests of the server share: one exploration for those who only look, and a new one for those who change it."""

import pytest
from explored import open_applicants
from served import Visitor, entered, served


@pytest.fixture(scope="package")
def shared():
    """A server with a few models, whose exploration nobody changes."""

    def opening(progress):
        exploration = open_applicants(progress=progress)
        exploration.next()
        exploration.next()
        return exploration

    with served(opening) as found:
        found.owner = found.visitor()
        assert found.owner.enter(found.address).status == 200
        found.owner.wait()
        yield found


@pytest.fixture
def stranger(shared) -> Visitor:
    """Somebody who knows where the server is, and no more."""
    return Visitor(shared.port)


@pytest.fixture
def owner(shared) -> Visitor:
    """Somebody who came in by the address of the terminal, and only looks."""
    return shared.owner


@pytest.fixture
def visitor(tmp_path):
    """Somebody who came in by the address of the terminal, to an exploration of their own."""
    with entered(lambda progress: open_applicants(progress=progress, record=tmp_path / "record.jsonl")) as found:
        yield found
