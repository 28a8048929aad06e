"""capture.py FILE: what the one interface of this namespace carries, until SIGTERM. read(FILE) gives it back.

A raw socket, and times of the kernel: no program is needed that a machine may lack.
"""
import bisect
import math
import signal
import socket
import struct
import sys
from collections import namedtuple

STAMP = 35  # SO_TIMESTAMPNS
PACKET, STATISTICS = 263, 6  # SOL_PACKET, PACKET_STATISTICS
RECORD = struct.Struct("<Qd4sH4sHIBI")
SYN, FIN = 2, 1

Packet = namedtuple("Packet", "time source source_port target target_port sequence flags data")


def decode(frame):
    """The parts of an IPv4 frame with TCP; None: it is something else."""
    if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None
    ip = frame[14:14 + struct.unpack(">H", frame[16:18])[0]]
    tcp = ip[(ip[0] & 15) * 4:]
    ports = struct.unpack(">HHI", tcp[:8])
    return ip[12:16], ports[0], ip[16:20], ports[1], ports[2], tcp[13], tcp[(tcp[12] >> 4) * 4:]


def main():
    out = open(sys.argv[1], "wb")
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    raw.setsockopt(socket.SOL_SOCKET, STAMP, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    raw.bind(("eth0", 3))
    raw.settimeout(0.2)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    print("captures", flush=True)
    while True:
        try:
            frame, more, _, _ = raw.recvmsg(1 << 17, 64)
        except socket.timeout:
            if stop:
                break
            continue
        packet = decode(frame)
        if packet and more:
            seconds, nanoseconds = struct.unpack("qq", more[0][2][:16])
            source, sport, target, tport, sequence, flags, data = packet
            out.write(RECORD.pack(seconds, nanoseconds / 1e9, source, sport, target, tport, sequence, flags, len(data)))
            out.write(data)
    out.close()
    # What came while this process was not looking, and was too much to keep.
    return 3 if struct.unpack("II", raw.getsockopt(PACKET, STATISTICS, 8))[1] else 0


def text(address):
    return ".".join(str(b) for b in address)


def read(path, since):
    """The packets of a file, their times in seconds since that moment: of the year 1970 a float tells no microseconds."""
    packets, data, at = [], open(path, "rb").read(), 0
    while at < len(data):
        seconds, part, source, sport, target, tport, sequence, flags, size = RECORD.unpack_from(data, at)
        at += RECORD.size
        packets.append(Packet(seconds - since + part, text(source), sport, text(target), tport, sequence, flags, data[at:at + size]))
        at += size
    return packets


class Stream:
    """One direction of one connection: its bytes, and when each of them came."""

    def __init__(self, packets):
        first = packets[0]
        self.source, self.source_port, self.target, self.target_port = first[1:5]
        self.began = first.time
        start = min(packets, key=lambda p: 0 if p.flags & SYN else 1)
        base = (start.sequence + 1) if start.flags & SYN else start.sequence
        self.data, self.times, seen = bytearray(), [], {}
        for p in packets:
            if p.data:
                seen.setdefault((p.sequence - base) % (1 << 32), p)
        for offset in sorted(seen):
            p = seen[offset]
            fresh = p.data[max(0, len(self.data) - offset):]
            if fresh:
                self.times.append((len(self.data), p.time))
                self.data += fresh

    def time_at(self, offset):
        """When the byte at this offset came."""
        return self.times[bisect.bisect_right(self.times, (offset, math.inf)) - 1][1]


def streams(packets):
    """A SYN with another number begins another connection: a device may get the same port twice."""
    flows, ended = {}, []
    for p in packets:
        ends = (p.source, p.source_port, p.target, p.target_port)
        flow = flows.setdefault(ends, [])
        if p.flags & SYN and flow and flow[0].sequence != p.sequence:
            ended.append(flow)
            flow = flows[ends] = []
        flow.append(p)
    return [s for s in (Stream(f) for f in ended + list(flows.values())) if s.data]


if __name__ == "__main__":
    sys.exit(main())
