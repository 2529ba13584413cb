"""The login form: who sends the token gets a session; and the way out.

Only a form that is sent is a try. An address with a token in it fills the form in and does nothing else: a picture or a
window of any page may point there, and wrong ones would soon keep the owner out. A form of another site is refused
before it counts, by its `Origin` (`security`).
"""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from espalier.server.failures import Failure
from espalier.server.routes.shared import Routes
from espalier.server.sessions import COOKIE, Door, session_key
from espalier.server.shapes import LeaveOrder, LeftAnswer

__all__ = ["pages", "router"]

pages = APIRouter(include_in_schema=False)
router = Routes(tags=["sessions"])

_FORM = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Log in · {title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <link rel="icon" href="icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="base.css">
  <link rel="stylesheet" href="layout.css">
</head>
<body>
  <main class="login">
    <form class="panel" method="post" action="/login">
      <h1>{title}</h1>
      {message}
      <label class="labelled above"><span>Token, as the server printed it at its start</span>
        <input type="password" name="token" value="{token}" required autocomplete="current-password"{here}></label>
      <button class="primary"{there}>Log in</button>
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


def _form(title: str, failure: Failure | None = None, token: str = "") -> Response:
    """Return the form. token : that it is filled in with."""
    message = ""
    if failure is not None:
        hint = f'<span class="hint">{escape(failure.hint)}</span>'
        message = f'<div class="message" role="alert"><b>{escape(failure.what)}</b>{hint}</div>'
    status = 200 if failure is None else failure.status
    here, there = ("", " autofocus") if token else (" autofocus", "")
    page = (
        _FORM.replace("{title}", title).replace("{message}", message).replace("{here}", here).replace("{there}", there)
    )
    # Without a referrer a browser says that the form comes from nowhere, and it would be refused.
    return HTMLResponse(page.replace("{token}", escape(token)), status, {"referrer-policy": "same-origin"})


def _enter(request: Request, token: str) -> Response:
    try:
        key = _door(request).enter(token, _address(request))
    except Failure as failure:
        return _form(request.app.title, failure)
    answer = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"  # as a proxy says that is believed (`security.Gate.told`)
    answer.set_cookie(COOKIE, key, httponly=True, samesite="strict", secure=secure, max_age=30 * 24 * 3600)
    return answer


@pages.get("/login")
def show_login(request: Request, token: str = "") -> Response:
    """Show the form; the address that `serve` prints has the token in it."""
    return RedirectResponse("/", 303) if _door(request).token is None else _form(request.app.title, token=token)


@pages.post("/login")
async def enter(request: Request) -> Response:
    """Take the token from the form."""
    given = parse_qs((await request.body()).decode("utf-8", "replace"))
    return _enter(request, given.get("token", [""])[0].strip())


@router.post("/logout")
def leave(asked: LeaveOrder, request: Request, response: Response) -> LeftAnswer:
    """End this session, or all of them."""
    response.delete_cookie(COOKIE)
    return LeftAnswer(ended=_door(request).leave(session_key(request.headers), asked.everywhere))
