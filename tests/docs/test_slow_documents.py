"""The blocks of the documentation that take long."""

import pytest
from support.documentation import DOCUMENTS, NAMES, blocks, prepare, run_block

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_every_block_runs(document, folder):
    prepare(folder)
    names = {}
    for block in blocks(document):
        run_block(block, names)
