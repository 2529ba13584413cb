"""The login form: who brings the token gets a session; and the way out."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from espalier.workbench.failures import Failure
from espalier.workbench.sessions import COOKIE, Door, session_key
from espalier.workbench.shapes import people

__all__ = ["pages", "router"]

pages = APIRouter(include_in_schema=False)
router = APIRouter(tags=["sessions"])

_FORM = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Log in · Espalier workbench</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <link rel="icon" href="icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="base.css">
  <link rel="stylesheet" href="layout.css">
</head>
<body>
  <main class="login">
    <form class="panel" method="post" action="/login">
      <h1>Espalier workbench</h1>
      {message}
      <label class="labelled above"><span>Token, as <kbd>espalier serve</kbd> printed it</span>
        <input type="password" name="token" required autofocus autocomplete="current-password"></label>
      <button class="primary">Log in</button>
    </form>
  </main>
</body>
</html>
"""


def _door(request: Request) -> Door:
    found: Door = request.app.state.door
    return found


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _form(failure: Failure | None = None) -> Response:
    message = ""
    if failure is not None:
        hint = f'<span class="hint">{escape(failure.hint)}</span>'
        message = f'<div class="message" role="alert"><b>{escape(failure.what)}</b>{hint}</div>'
    status = 200 if failure is None else failure.status
    # Without a referrer a browser says that the form comes from nowhere, and it would be refused.
    return HTMLResponse(_FORM.replace("{message}", message), status, {"referrer-policy": "same-origin"})


def _enter(request: Request, token: str) -> Response:
    try:
        key = _door(request).enter(token, _address(request))
    except Failure as failure:
        return _form(failure)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(COOKIE, key, httponly=True, samesite="strict", max_age=30 * 24 * 3600)
    return answer


def _opened(request: Request) -> bool:
    """Has somebody opened this address? A picture or a frame of any page may point here, and is no try."""
    mode, place = (request.headers.get(f"sec-fetch-{name}") for name in ("mode", "dest"))
    return mode in (None, "navigate") and place in (None, "document")


@pages.get("/login")
def show_login(request: Request, token: str = "") -> Response:
    """Show the form; the address that `serve` prints has the token in it."""
    if _door(request).token is None:
        return RedirectResponse("/", 303)
    return _enter(request, token) if token and _opened(request) else _form()


@pages.post("/login")
async def enter(request: Request) -> Response:
    """Take the token from the form."""
    given = parse_qs((await request.body()).decode("utf-8", "replace"))
    return _enter(request, given.get("token", [""])[0].strip())


@router.post("/logout", response_model=people.LeftAnswer)
def leave(asked: people.LeaveOrder, request: Request) -> JSONResponse:
    """End this session, or all of them."""
    ended = _door(request).leave(session_key(request.headers), asked.everywhere)
    answer = JSONResponse({"ended": ended})
    answer.delete_cookie(COOKIE)
    return answer
