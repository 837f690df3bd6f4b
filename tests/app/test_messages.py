"""No message of a tab reaches other visitors, or tells anything of the server."""

from __future__ import annotations

import asyncio

from tests.every_message import send_each

ANSWERED = {
    "rerun_script",
    "stop_script",
    "file_urls_request",
    "backend_operation_request.deferred_file",
}
AFTER_A_SCRIPT = {"session_status_changed"}


def test_a_server_answers_only_what_pages_send_and_others_trainings_go_on(address: str) -> None:
    effects = asyncio.run(send_each(address))
    assert {kind for kind, each in effects.items() if not each.is_connected} == set()
    assert {each.alerts for each in effects.values()} == {""}
    answered = {kind for kind, each in effects.items() if each.answers.keys() - AFTER_A_SCRIPT}
    assert answered <= ANSWERED
    assert effects["file_urls_request"].answers["file_urls_response"] == 1
