"""make_learn_data.py DIR: small files in the formats that `sotto learn data` reads: images that differ by class, writers, verses."""
import json
import random
import struct
import sys

folder = sys.argv[1]
draw = random.Random(3)


def pattern(label):
    return [130 if (at // 28 // 3 + label * (at % 28 // 4)) % 10 < 3 + label % 3 else 0 for at in range(784)]


patterns = [pattern(label) for label in range(10)]


def image(label):
    return bytes(base + noise % 110 for base, noise in zip(patterns[label], draw.randbytes(784)))


for part, count in (("train", 400), ("t10k", 100)):
    labels = bytes(draw.randrange(10) for _ in range(count))
    with open(f"{folder}/{part}-labels-idx1-ubyte", "wb") as out:
        out.write(struct.pack(">II", 0x801, count) + labels)
    with open(f"{folder}/{part}-images-idx3-ubyte", "wb") as out:
        out.write(struct.pack(">IIII", 0x803, count, 28, 28) + b"".join(map(image, labels)))
with open(f"{folder}/mnist_train_writer_u16le.bin", "wb") as out:
    out.write(b"".join(struct.pack("<H", 100 + i // 16) for i in range(400)))
words = "the light of day and dark night; and it was so".split()
verses = {f"Book {chapter}:{verse}": "# And " + " ".join(draw.choice(words) for _ in range(40)) + "."
          for chapter in range(1, 13) for verse in range(1, 4)}
with open(f"{folder}/verses-1769.json", "w", encoding="utf-8") as out:
    json.dump(verses, out)
