#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Take the uncompressed kernel (an ELF file) out of a bzImage: vmlinux.py BZIMAGE VMLINUX.

The place of the compressed kernel is in the set-up header of the x86 boot protocol (version 2.08
on): setup_sects at 0x1F1 (octet), the magic "HdrS" at 0x202, payload_offset at 0x248 and
payload_length at 0x24C (32 bits, little endian; the offset counts from the end of the set-up
sectors).  Exit status 1, with a message, if the file is no bzImage or its compression is unknown.
"""

import lzma
import struct
import sys
import zlib
from pathlib import Path

SECTOR = 512


def payload(image: bytes) -> bytes:
    """The compressed kernel inside a bzImage.  Raises ValueError if there is none."""
    if len(image) < 0x250 or image[0x202:0x206] != b"HdrS":
        raise ValueError("not a bzImage")
    (protocol,) = struct.unpack_from("<H", image, 0x206)
    if protocol < 0x208:
        raise ValueError(f"boot protocol {protocol:#x} names no payload")
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (int(image[0x1F1] or 4) + 1) * SECTOR + offset
    if start + length > len(image):
        raise ValueError("the payload lies beyond the end of the file")
    return image[start : start + length]


def uncompressed(data: bytes) -> bytes:
    """The ELF file in a payload.  Raises ValueError for an unknown or broken compression."""
    try:
        if data.startswith(b"\xfd7zXZ\0"):
            kernel = lzma.LZMADecompressor().decompress(data)
        elif data.startswith(b"\x1f\x8b"):
            kernel = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data)
        else:
            raise ValueError(f"unknown compression {data[:4].hex()}")
    except (lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"broken payload: {error}") from error
    if not kernel.startswith(b"\x7fELF"):
        raise ValueError("the payload is no ELF file")
    return kernel


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: vmlinux.py BZIMAGE VMLINUX", file=sys.stderr)
        return 2
    try:
        kernel = uncompressed(payload(Path(sys.argv[1]).read_bytes()))
    except (OSError, ValueError) as error:
        print(f"vmlinux.py: {sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    Path(sys.argv[2]).write_bytes(kernel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
