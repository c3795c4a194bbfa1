"""A table that is written to, cleaned up, dropped and made again while others read it.

``python -m tests.soak`` does it for as long as one likes; tests do some rounds of it. A round is a
writer in a process of its own (:mod:`tests.soak.writer`), which logs what every version holds as
pylance reads it (:mod:`tests.soak.log`); readers in another process, of whom some share a table
(:mod:`tests.soak.reader`); and, when all is over, a judge (:mod:`tests.soak.judge`) who compares
what readers were told with the log. Nothing is judged by the clock.
"""
