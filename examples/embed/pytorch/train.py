"""A layer of PyTorch that is a kernel of Lay: registered as an operator, with a derivative, and
trained beside the same layer of PyTorch's own.

    python3 -m pip install lay-*.whl torch      or a wheel of this build: python/wheel.py
    python3 train.py

With a GPU it trains there. Without one the kernel runs in the interpreter, and training takes a few
steps of few rows. Without PyTorch it prints how the kernel is planned for a GPU.
"""

import sys

import lay

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    torch = None

INPUTS, WIDTH = 16, 128

# A linear map with its GELU. The sums are an output too: the derivative of GELU needs them.
KERNEL = lay.kernel("""
kernel linear_gelu<M, N, K>(X: bf16 (M,K), W: bf16 (N,K), b: bf16 N)
  -> (Y: bf16 (M,N), Z: bf16 (M,N))
{ let z = sum[k](X[m,k] * W[n,k]) + b[n]
  Y[m,n] = gelu(z)
  Z[m,n] = z }
""")

if torch is None:
    print("PyTorch is not installed, so that nothing is trained: python3 -m pip install torch")
    plan = KERNEL.plan("h200")
    for rows in (64, 8192):
        print(f"{rows:5} rows on an H200 take {plan.choose(M=rows, N=WIDTH, K=INPUTS)}")
    sys.exit(0)

import lay.torch  # noqa: E402, it needs PyTorch

# torch.ops.lay.linear_gelu, right under torch.compile too.
OPERATOR = lay.torch.register(KERNEL)


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], inputs[1], output[1])


def derivative(ctx, of_y, of_z):
    x, w, z = ctx.saved_tensors
    of_sum = torch.ops.aten.gelu_backward(of_y, z)
    return of_sum @ w, of_sum.T @ x, of_sum.sum(0)


OPERATOR.register_autograd(derivative, setup_context=keep)


class OfLay(nn.Linear):
    def forward(self, x):
        return OPERATOR(x, self.weight, self.bias)[0]


class OfTorch(nn.Linear):
    def forward(self, x):
        return functional.gelu(super().forward(x))


def losses(first, rows, steps, device):
    """Trains a network whose first layer is of that class; the loss of each step."""
    torch.manual_seed(0)
    model = nn.Sequential(first(INPUTS, WIDTH), nn.Linear(WIDTH, 1)).to(device, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    random = torch.Generator().manual_seed(1)
    found = []
    for _ in range(steps):
        x = torch.randn(rows, INPUTS, generator=random).to(device, torch.bfloat16)
        wanted = x.float().sin().sum(1, keepdim=True)
        loss = functional.mse_loss(model(x).float(), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
    return found


def main():
    if torch.cuda.is_available():
        device, rows, steps = "cuda", 8192, 200
        print(f"{torch.cuda.get_device_name()}, {steps} steps of {rows} rows")
    else:
        device, rows, steps = "cpu", 64, 10
        print(f"no GPU: {steps} steps of {rows} rows, the kernel in Lay's interpreter")
    of_torch, of_lay = (losses(first, rows, steps, device) for first in (OfTorch, OfLay))
    apart = max(abs(a - b) for a, b in zip(of_torch, of_lay))
    print(f"loss of Lay's layer      {of_lay[0]:.4f} to {of_lay[-1]:.4f}")
    print(f"loss of PyTorch's layer  {of_torch[0]:.4f} to {of_torch[-1]:.4f}")
    print(f"at most {apart:.4f} apart in a step")
    if not (of_lay[-1] < of_lay[0] and apart < 0.1 * of_lay[0]):
        sys.exit("Lay's layer does not train as PyTorch's does")


main()
