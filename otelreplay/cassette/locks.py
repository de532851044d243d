"""Advisory locks that say whether whoever made a file is still alive.

Theory of operation. The maker of a temporary file keeps a lock on it for as long as the file is open. The kernel lets go of the
lock however the process ends, so a file whose lock can be taken belongs to nobody any more. Between making a file and locking
it lies a moment in which somebody who tidies up may take it for abandoned: :func:`hold` waits for them, and says whether the
file outlived it.
"""

from __future__ import annotations

import errno
import os

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no advisory locks: an open file cannot be removed there instead
    fcntl = None  # type: ignore[assignment]

_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


def hold(descriptor: int) -> bool:
    """Lock a file that was just made, until it is closed; False if somebody removed it meanwhile.

    On a file system without locks nothing happens.
    """
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            return True
    return os.fstat(descriptor).st_nlink > 0


def free(descriptor: int) -> bool | None:
    """Does nobody hold the file? If so, this open file does from now on. None where locks are not to be had."""
    if fcntl is None:  # pragma: no cover
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _HELD else None
    return True
