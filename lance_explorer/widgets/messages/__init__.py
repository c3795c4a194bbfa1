"""Messages between Python and the browser, declared once, a module for each view.

``frontend/src/messages.ts`` is written from these modules (``make frontend``). The method that
answers a question declares it: its keyword arguments are the question, and its return value is the
answer (:func:`lance_explorer.widgets.view.answers`). Numbers that may exceed 2^53 are decimal
strings, arrays are sent as bytes beside a message, and null means unknown.
"""

__all__ = list[str]()
