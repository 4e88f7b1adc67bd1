"""Writes the arrays of digits.lay into a folder: 1,797 handwritten digits (digits.csv.gz; README.md
says where they come from), the weights of a linear layer fitted to the first 1,200 of them, and the
layer's outputs in 64-bit floating point. Needs nothing beyond Python's own library."""

import array
import csv
import gzip
import math
import operator
import pathlib
import sys

here, folder = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
CLASSES, TRAINED, EPOCHS = 10, 1200, 20


def dot(a, b):
    return sum(map(operator.mul, a, b))


def save(name, typecode, shape, values):
    """Writes an array in NumPy's format, version 1.0: a header padded to 64 bytes, then the data.
    NumPy's codes of types are "f4", "f8" and "i4", Python's are "f", "d" and "i"."""
    descr = f"<{typecode.replace('d', 'f')}{array.array(typecode).itemsize}"
    header = str({"descr": descr, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = array.array(typecode, values)
    if sys.byteorder == "big":
        data.byteswap()
    with open(folder / name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        data.tofile(file)


def to_float32(values):
    return array.array("f", values)


with gzip.open(here / "digits.csv.gz", "rt") as file:
    rows = [[int(value) for value in row] for row in csv.reader(file)]
pixels = [[value / 16 for value in row[:64]] for row in rows]
labels = [row[64] for row in rows]

# Softmax regression by stochastic gradient descent: one step a digit, in the order of the file.
weights = [[0.0] * 64 for _ in range(CLASSES)]
bias = [0.0] * CLASSES
for epoch in range(EPOCHS):
    rate = 0.1 / (1 + 0.2 * epoch)
    for x, label in zip(pixels[:TRAINED], labels):
        logits = [dot(w, x) + b for w, b in zip(weights, bias)]
        largest = max(logits)
        powers = [math.exp(logit - largest) for logit in logits]
        total = sum(powers)
        for i in range(CLASSES):
            step = rate * (powers[i] / total - (i == label))
            bias[i] -= step
            weights[i] = [w - step * v for w, v in zip(weights[i], x)]

# The reference takes the weights as the kernel gets them, rounded to 32 bits.
weights, bias = [to_float32(w) for w in weights], to_float32(bias)
scores = [max(dot(w, x) + b, 0) for x in pixels for w, b in zip(weights, bias)]

save("pixels.npy", "f", (len(pixels), 64), [value for x in pixels for value in x])
save("weights.npy", "f", (CLASSES, 64), [value for w in weights for value in w])
save("bias.npy", "f", (CLASSES,), bias)
save("labels.npy", "i", (len(labels),), labels)
save("scores.npy", "d", (len(pixels), CLASSES), scores)
print(f"{len(pixels)} digits of 64 pixels; weights fitted to the first {TRAINED}")
