"""Sends Ethernet frames as they are told and prints, as one line of JSON, every TCP segment that comes in by the link.

usage: raw-frames.py <link> <seconds> <frames>
frames: a JSON list of {"from_mac", "to_mac", "from", "to", "from_port", "to_port"}: one TCP SYN each.
"""
import json, select, socket, struct, sys, time

OUTGOING = 4  # linux/if_packet.h, PACKET_OUTGOING


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def syn(frame):
    source, target = socket.inet_aton(frame["from"]), socket.inet_aton(frame["to"])
    ports = struct.pack("!HH", frame["from_port"], frame["to_port"])
    head, tail = ports + struct.pack("!IIBBH", 1000, 0, 5 << 4, 2, 64240), b"\0\0"
    pseudo = source + target + struct.pack("!BBH", 0, 6, 20)
    tcp = head + struct.pack("!H", checksum(pseudo + head + b"\0\0" + tail)) + tail
    start, end = struct.pack("!BBHHHBB", 0x45, 0, 40, 1, 0, 64, 6), source + target
    ip = start + struct.pack("!H", checksum(start + b"\0\0" + end)) + end
    return mac(frame["to_mac"]) + mac(frame["from_mac"]) + b"\x08\x00" + ip + tcp


link, seconds, frames = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind((link, 0))
print("listening", flush=True)
for frame in frames:
    raw.send(syn(frame))
heard, end = [], time.monotonic() + seconds
while (left := end - time.monotonic()) > 0:
    if not select.select([raw], [], [], left)[0]:
        break
    data, about = raw.recvfrom(65535)
    if about[2] == OUTGOING or data[12:14] != b"\x08\x00" or data[23] != 6:
        continue
    ports = struct.unpack("!HH", data[34:38])
    heard.append({"from": socket.inet_ntoa(data[26:30]), "to": socket.inet_ntoa(data[30:34]),
                  "from_port": ports[0], "to_port": ports[1], "flags": data[47]})
print(json.dumps(heard))
