"""Results do not depend on how many processors there are."""

from fairenum.audit import AuditResult
from threadpoolctl import threadpool_info, threadpool_limits

from fairenum import audit
from fairenum.threads import one_thread


def test_blas_keeps_to_one_thread_and_is_set_free_again():
    with threadpool_limits(limits=2):
        with one_thread():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert 2 in {library["num_threads"] for library in threadpool_info()}


def test_an_audit_gives_the_same_bytes_with_one_thread_and_with_two():
    texts = set()
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            document = audit("german", search="guided").document
        texts.add(AuditResult({**document, "timings": {}}).to_json())
    assert len(texts) == 1
