"""A browser tab without a browser: Streamlit 1.67's websocket protocol, as far as the live page needs it.

Like the browser's code it answers an ``auto_rerun`` message by a timer that asks for the fragment again and again,
sends every widget value it knows with each request, and keeps large messages so that the server may name them by their
hash.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 60.0  # seconds for an answer of the server
KEPT, TOLD = 90, 15  # large messages kept, and the latest ones the server hears of: its answer may come later
EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"


@dataclass(frozen=True)
class Drawn:
    """The latest version of an element that has an id.

    Attributes:
        proto: the element's own message.
        fragment: what is asked to run again when the element is used; empty for the whole page.
        at: clock value of its arrival.
    """

    proto: Any
    fragment: str
    at: float


@dataclass
class Tab:
    """One visitor.

    Attributes:
        url: of the server, http.
        query: what stands in the address bar.
        drawn: the elements with a key or an id, by their key, else their id.
        values: what every widget holds, by its id.
        wrong: what no visitor should see: exceptions and the page's own error messages.
        runs: script and fragment runs that ended.
        received: bytes.
    """

    url: str
    query: str
    drawn: dict[str, Drawn] = field(default_factory=dict)
    values: dict[str, WidgetState] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    runs: int = 0
    received: int = 0
    _page: str = ""
    _socket: ClientConnection | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    _cache: dict[str, ForwardMsg] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    async def open(cls, url: str, **fields: str) -> Tab:
        """Connect and ask for the page; ``fields`` go into the address."""
        tab = cls(url, urlencode(fields))
        address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        # The third place would name an earlier session.
        tab._socket = await connect(address, subprotocols=["streamlit"], max_size=None, compression=None)  # type: ignore[list-item]
        tab._tasks.append(asyncio.create_task(tab._listen()))
        await tab.ask()
        return tab

    async def close(self) -> None:
        """Close the tab."""
        tasks = [*self._tasks, *(task for _, task in self._timers.values())]
        self._timers.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()

    async def until(self, what: str, met: Any) -> None:
        """Wait until ``met()`` is true, which is looked at after every message.

        Raises:
            TimeoutError: it never was.
            ConnectionError: the server closed the connection.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not met():
                    if any(task.done() for task in self._tasks):
                        raise ConnectionError(f"The connection ended before {what}.")
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise TimeoutError(f"{what}: not in {PATIENCE:.0f} s; on the screen: {self.wrong or 'no error'}") from None

    # -- what a visitor does ---------------------------------------------------------------------------------------

    async def press(self, key: str) -> None:
        """Click a button."""
        ident = self.drawn[key].proto.id
        await self.ask(self.drawn[key].fragment, WidgetState(id=ident, trigger_value=True))

    async def send(self, key: str, event: str, value: object) -> None:
        """What a component's ``setTriggerValue(event, value)`` sends."""
        told = json.dumps([{"event": event, "value": value}])
        ident = EVENTS.format(self.drawn[key].proto.id)
        await self.ask(self.drawn[key].fragment, WidgetState(id=ident, json_trigger_value=told))

    def data(self, key: str) -> dict[str, Any]:
        """What the page last gave to a component."""
        return dict(json.loads(self.drawn[key].proto.json))

    # -- the protocol ----------------------------------------------------------------------------------------------

    async def ask(self, fragment: str = "", *triggers: WidgetState, timer: bool = False) -> None:
        """Ask for a run of the page or of one fragment."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash, state.fragment_id = self.query, self._page, fragment
        state.is_auto_rerun = timer
        state.widget_states.widgets.extend([*self.values.values(), *triggers])
        state.cached_message_hashes.extend(list(self._cache)[-TOLD:])
        state.context_info.url = self.url
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _listen(self) -> None:
        assert self._socket is not None
        async for raw in self._socket:
            assert isinstance(raw, bytes)
            self.received += len(raw)
            self._take(ForwardMsg.FromString(raw))
            self._news.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            message, kind = self._cache[message.ref_hash], "delta"
            self._keep(message)
        elif message.metadata.cacheable:
            self._keep(message)
        if kind == "new_session":
            if not message.metadata.run.fragment_ids:
                self._stop(list(self._timers))
        elif kind == "navigation":  # the page in use; a request that names another one wipes this one's widgets
            self._page = message.navigation.page_script_hash
        elif kind == "script_finished":
            self.runs += 1
        elif kind == "auto_rerun":
            self._start(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop(list(message.stop_auto_rerun.fragment_ids))
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
            self.wrong.append(message.session_event.script_compilation_exception.message)
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._draw(message.delta.new_element, message.delta.fragment_id)

    def _keep(self, message: ForwardMsg) -> None:
        self._cache.pop(message.hash, None)
        self._cache[message.hash] = message
        if len(self._cache) > KEPT:
            del self._cache[next(iter(self._cache))]

    def _draw(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        proto = getattr(element, kind)
        if kind == "exception":
            self.wrong.append(f"{proto.type}: {proto.message}")
        elif kind == "html" and 'class="say error"' in proto.body:
            self.wrong.append(re.sub("<[^>]*>", "", proto.body))
        ident = getattr(proto, "id", "")
        if not ident:
            return
        # The id of an element with a key of its own ends in it; one without, in "None".
        key = ident.rpartition("-")[2]
        self.drawn[ident if key == "None" else key] = Drawn(proto, fragment, time.monotonic())
        if (value := _held(kind, proto, ident not in self.values)) is not None:
            self.values[ident] = value

    def _start(self, fragment: str, interval: float) -> None:
        known = self._timers.get(fragment)
        if known is not None and known[0] == interval:
            return
        self._stop([fragment])
        self._timers[fragment] = (interval, asyncio.create_task(self._beat(fragment, interval)))

    def _stop(self, fragments: list[str]) -> None:
        for fragment in fragments:
            if (known := self._timers.pop(fragment, None)) is not None:
                known[1].cancel()

    async def _beat(self, fragment: str, interval: float) -> None:
        """A browser's ``setInterval``: at fixed times, one that was missed is not made up for."""
        due = time.monotonic()
        while True:
            due = max(due + interval, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            await self.ask(fragment, timer=True)


def _held(kind: str, proto: Any, new: bool) -> WidgetState | None:
    """What a widget tells of itself when it appears or is given a value; None if there is nothing to tell."""
    if not (new or getattr(proto, "set_value", False)):
        return None
    if kind == "selectbox":
        index = proto.default if proto.HasField("default") else None
        text = proto.raw_value if proto.set_value else None if index is None else proto.options[index]
        return None if text is None else WidgetState(id=proto.id, string_value=text)
    value = proto.value if getattr(proto, "set_value", False) else getattr(proto, "default", None)
    if kind == "text_input":
        return WidgetState(id=proto.id, string_value=value)
    if kind == "number_input":
        return WidgetState(id=proto.id, double_value=value)
    if kind == "checkbox":
        return WidgetState(id=proto.id, bool_value=value)
    return None
