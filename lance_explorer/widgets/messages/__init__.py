"""What Python and the browser say to each other, declared once, a module for each view.

``frontend/src/messages.ts`` is written from these modules (``make frontend``). A question is
declared by the method that answers it: what is asked are its keyword arguments, and what it returns
is the answer (:func:`lance_explorer.widgets.view.answers`). Numbers that may pass 2^53 are decimal
strings, arrays go beside a message as bytes, and null stands for what is not known.
"""

__all__ = list[str]()
