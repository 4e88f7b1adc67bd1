"""Lay in Python, with arrays of NumPy: points are given to the nearest of some centres.

    python3 -m pip install lay-*.whl numpy      or a wheel of this build: python/wheel.py
    python3 classify.py

Nothing here needs a GPU: arrays of NumPy are the host's, and a kernel that is called with them runs
in the interpreter, which checks every access. Called with tensors of PyTorch or arrays of CuPy on a
GPU, the same kernel runs there.
"""

import sys

import lay

try:
    import numpy as np
except ImportError:
    sys.exit("this example needs NumPy: python3 -m pip install numpy")

# Of |x - c|^2 only -2 x*c + |c|^2 differs between the centres.
distances = lay.kernel("""
kernel distances<M, N, K>(X: f32 (M,K), C: f32 (N,K), norms: f32 N) -> D: f32 (M,N)
  where K % 4 == 0
{ D[m,n] = norms[n] - 2 * sum[k](X[m,k] * C[n,k]) }
""")


def nearest(points, centres):
    """The number of the centre that is nearest to each point."""
    norms = (centres * centres).sum(axis=1)
    return distances(points, centres, norms).argmin(axis=1)


def main():
    random = np.random.default_rng(1)
    centres = random.integers(-8, 9, (5, 12)).astype(np.float32)
    truth = random.integers(0, 5, 40)
    points = centres[truth] + random.integers(-1, 2, (40, 12)).astype(np.float32)
    found = nearest(points, centres)
    every = ((points[:, None, :] - centres[None]) ** 2).sum(axis=2)
    print("as NumPy finds", bool((found == every.argmin(axis=1)).all()))
    print("as it was made", int((found == truth).sum()), "of", len(truth))

    # What the kernel asks of its arguments is checked before it runs.
    try:
        nearest(points[:, :10], centres[:, :10])
    except lay.LayError as error:
        print(f"{error.code}: {error.diagnostics[0].message}")

    # Layouts are objects. This one goes through a matrix of 8 x 6 in tiles of 4 x 2; its offsets
    # are indices for NumPy, here of a copy in which a row is a tile.
    tiles = lay.layout("zipped_divide((8,6):(6,1), (4:1,2:1))")
    print(tiles, lay.prove("bijective(t)", t=tiles))
    print("second tile", np.arange(48)[tiles.numpy().T][1])

    # How the kernel is planned for a GPU that need not be here.
    plan = distances.plan("h200")
    for count in (40, 4000, 400_000):
        sizes = dict(M=count, N=1024, K=64)
        print(f"{count:6} points on an H200: {plan.choose(**sizes)}")


main()
