"""Work in the background, for widgets: of each kind, the newest job wins."""

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable

__all__ = ["Cancelled", "Job", "Worker"]

_MOST_AT_ONCE = 2
"""Jobs of one kind that run at once: a replaced job may not have noticed that yet."""


class Cancelled(Exception):  # noqa: N818 - a message to whoever started the work, not a failure
    """The result is no longer wanted."""


class Job:
    """One piece of work, which a newer one of its kind cancels."""

    def __init__(
        self,
        kind: Hashable,
        work: Callable[["Job"], None],
        limit: float | None = None,
        late: Callable[[], None] = lambda: None,
    ) -> None:
        self.kind = kind
        self.work = work
        self.limit = limit
        self.late = late
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Say that the result is no longer wanted."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether a newer job has replaced this one."""
        return self._cancelled.is_set()

    def pause(self, seconds: float) -> None:
        """Wait a little, during which a newer job may replace this one."""
        self._cancelled.wait(seconds)
        self.check()

    def check(self) -> None:
        """Stop here if the result is no longer wanted."""
        if self.is_cancelled:
            raise Cancelled


class Worker:
    """Runs jobs in threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, Job] = {}
        self._running: defaultdict[Hashable, list[Job]] = defaultdict(list)

    def submit(
        self,
        kind: Hashable,
        work: Callable[[Job], None],
        limit: float | None = None,
        late: Callable[[], None] = lambda: None,
    ) -> None:
        """Run ``work`` as soon as possible, instead of all earlier work of that kind.

        Parameters
        ----------
        kind : hashable
            What kind of work it is.
        work : callable
            The work.
        limit : float, optional
            How many seconds it may take. After that, its result is not used.
        late : callable
            Is called then, if it is still wanted.
        """
        job = Job(kind, work, limit, late)
        with self._changed:
            if older := self._waiting.pop(kind, None):
                older.cancel()
            for older in self._running[kind]:
                older.cancel()
            if len(self._running[kind]) == _MOST_AT_ONCE:
                self._waiting[kind] = job
                return
            self._running[kind].append(job)
        threading.Thread(target=self._run, args=(job,), name=f"lx-{kind}", daemon=True).start()

    def cancel(self, kind: Hashable | None = None) -> None:
        """Say that nothing is wanted any more, or nothing of one kind."""
        with self._changed:
            kinds = [kind] if kind else [*self._waiting, *self._running]
            for one in kinds:
                waiting = self._waiting.pop(one, None)
                for job in (*self._running[one], *([waiting] if waiting else [])):
                    job.cancel()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; return whether that happened in time (seconds)."""
        with self._changed:
            return self._changed.wait_for(lambda: not any(self._running.values()), timeout)

    def _run(self, job: Job) -> None:
        following: Job | None = job
        while following:
            timer = self._timer(following)
            try:
                following.work(following)
            finally:
                if timer is not None:
                    timer.cancel()
                following = self._next(following)

    def _timer(self, job: Job) -> threading.Timer | None:
        if job.limit is None:
            return None
        timer = threading.Timer(job.limit, self._give_up, (job,))
        timer.daemon = True
        timer.start()
        return timer

    def _give_up(self, job: Job) -> None:
        """Continue without a job that takes too long; its thread may never end."""
        with self._changed:
            if job not in self._running[job.kind]:
                return
            is_wanted = not job.is_cancelled
            job.cancel()
        if is_wanted:
            job.late()
        if following := self._next(job):
            threading.Thread(
                target=self._run, args=(following,), name=f"lx-{job.kind}", daemon=True
            ).start()

    def _next(self, done: Job) -> Job | None:
        with self._changed:
            if done not in self._running[done.kind]:  # it was given up
                return None
            self._running[done.kind].remove(done)
            following = self._waiting.pop(done.kind, None)
            if following:
                self._running[done.kind].append(following)
            self._changed.notify_all()
        return following
