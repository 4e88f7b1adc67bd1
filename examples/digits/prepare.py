"""Writes the arrays of digits.lay into a folder: the 1,797 handwritten digits that scikit-learn ships, the weights of a
linear layer fitted to the first 1,200 of them by softmax regression, and the layer's outputs in float64."""

import gzip
import importlib.util
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
package = pathlib.Path(importlib.util.find_spec("sklearn").origin).parent
with gzip.open(package / "datasets" / "data" / "digits.csv.gz", "rt") as file:
    table = np.loadtxt(file, delimiter=",")

pixels = table[:, :64] / 16
labels = table[:, 64].astype(np.int32)

train, targets = pixels[:1200], np.eye(10)[labels[:1200]]
weights, bias = np.zeros((10, 64)), np.zeros(10)
for _ in range(400):  # softmax regression by gradient descent, lightly regularised
    logits = train @ weights.T + bias
    likelihood = np.exp(logits - logits.max(axis=1, keepdims=True))
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    error = (likelihood - targets) / len(train)
    weights -= 2 * (error.T @ train + 1e-3 * weights)
    bias -= 2 * error.sum(axis=0)

X, W, b = (np.ascontiguousarray(a, dtype=np.float32) for a in (pixels, weights, bias))
scores = X.astype(np.float64) @ W.astype(np.float64).T + b

np.save(folder / "pixels.npy", X)
np.save(folder / "weights.npy", W)
np.save(folder / "bias.npy", b)
np.save(folder / "labels.npy", labels)
np.save(folder / "scores.npy", np.maximum(scores, 0))
print(f"{len(X)} digits of {X.shape[1]} pixels; weights fitted to the first {len(train)}")
