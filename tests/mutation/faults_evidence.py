"""Faults in the rules of evidence: no secret in what is stored, no verdict on what was not recorded."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

HAR, REDACTION = (
    "app/engine/core/evaluation/har_redaction.py",
    "app/engine/core/evaluation/evidence_redaction.py",
)
RESPONSE, SCORING = (
    "app/engine/evaluation/strict/final_response.py",
    "app/engine/evaluation/strict/scoring.py",
)
LOOP, SERVICE = "app/engine/agent/loop.py", "app/engine/services/run_evidence.py"
_HAR = ("tests/unit/engine/test_har_redaction.py",)
_RUNS = ("tests/unit/engine/test_run_evidence.py",)
_STRICT = ("tests/unit/evaluation/test_strict.py",)

FAULTS = (
    Mutation(
        "evidence-har-headers",
        HAR,
        "if name and not _SECRET_HEADER.search(name):",
        "if name:",
        "Headers of cookies and authorisation are not stored.",
        _HAR,
        safety=True,
    ),
    Mutation(
        "evidence-har-login",
        HAR,
        "    url = redact_url(mask(_without_login(url)))",
        "    url = redact_url(mask(url))",
        "A name in front of a host, which may be a token, is not stored.",
        _HAR,
        safety=True,
    ),
    Mutation(
        "evidence-har-address",
        HAR,
        "    url = redact_url(mask(_without_login(url)))",
        "    url = mask(_without_login(url))",
        "A token in an address is not stored.",
        _HAR,
        safety=True,
    ),
    Mutation(
        "evidence-har-own-secrets",
        HAR,
        'kept.append({"name": name, "value": redact_url(mask(value))})',
        'kept.append({"name": name, "value": redact_url(value)})',
        "The run's own secrets in a header are masked.",
        _HAR,
        safety=True,
    ),
    Mutation(
        "evidence-har-cut",
        HAR,
        '            return None, f"the recorded requests take more than',
        '            return {}, f"the recorded requests take more than',
        "An archive that is too long is left out as a whole.",
        _HAR,
    ),
    Mutation(
        "evidence-page",
        REDACTION,
        "    return redact_html(mask(text)).decode",
        "    return mask(text).encode().decode",
        "A password in a field is not in the stored page.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "evidence-own-secret-in-page",
        REDACTION,
        "    return redact_html(mask(text)).decode",
        "    return redact_html(text).decode",
        "The run's own secrets in a page are masked.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "evidence-answer",
        REDACTION,
        "answer=redact_text(mask(evidence.answer))",
        "answer=redact_text(evidence.answer)",
        "The run's own secrets in the answer are masked.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "evidence-failed-capture",
        LOOP,
        '        except SiteloreError as error:\n            log.warning("run %s has no evidence',
        '        except StoreError as error:\n            log.warning("run %s has no evidence',
        "A capture that fails costs the evidence and not the run.",
        _RUNS,
    ),
    Mutation(
        "evidence-unknown-task",
        SERVICE,
        "            return (await suites.suite(suite)).task(task)\n        except SiteloreError as error:",
        "            return (await suites.suite(suite)).task(task)\n        except ValueError as error:",
        "A run of a task that is not known has evidence without targets.",
        _RUNS,
    ),
    Mutation(
        "evidence-strict-made-up",
        RESPONSE,
        "    if task.kind == RETRIEVE and task.succeeds and task.plain and task.answers == 1:",
        "    if task.succeeds:",
        "A response is not made up for a task that does not ask for one plain value.",
        _STRICT,
    ),
    Mutation(
        "evidence-strict-status",
        RESPONSE,
        '        if task.succeeds:\n            return _response("UNKNOWN_ERROR"',
        '        if task.kind:\n            return _response("UNKNOWN_ERROR"',
        "Giving up a task that can't be done is left open where no status was named.",
        _STRICT,
    ),
    Mutation(
        "evidence-strict-missing",
        SCORING,
        "    if missing:\n        said = missing\n    elif",
        '    if missing and row.get("score") != 1:\n        said = missing\n    elif',
        "An evaluator that lacked something says nothing, for or against.",
        _STRICT,
    ),
    Mutation(
        "evidence-strict-first",
        SCORING,
        "    if failed is not None:\n        verdict",
        "    if failed is not None and open_ is None:\n        verdict",
        "A check that failed decides, whatever another one lacked.",
        _STRICT,
    ),
)
