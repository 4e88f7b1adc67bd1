"""A small transformer whose first feed-forward layer, a linear map with GELU, is one kernel of Lay:
its loss beside that of PyTorch's layers, eager and compiled, and the time of a step. The package
`lay` on PYTHONPATH, a GPU and PyTorch."""

import statistics

import lay
import lay.torch
import torch
from torch import nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, WORDS, LENGTH, BATCH, STEPS = 1024, 6, 16, 256, 512, 32, 80

KERNEL = lay.kernel("""
kernel linear_gelu<M, N, K>(X: bf16 (M,K), W: bf16 (N,K), b: bf16 N)
  -> (Y: bf16 (M,N), Z: bf16 (M,N))
{ let z = sum[k](X[m,k] * W[n,k]) + b[n]
  Y[m,n] = gelu(z)
  Z[m,n] = z }
""")
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
        flat = x.reshape(-1, x.shape[-1])
        return OPERATOR(flat, self.weight, self.bias)[0].reshape(*x.shape[:-1], -1)


class OfTorch(nn.Linear):
    def forward(self, x):
        return functional.gelu(super().forward(x))


class Block(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.joint, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.first, self.second = first(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = self.joint(self.before(x)).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        return x + self.second(self.first(self.between(x)))


class Model(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block(first) for _ in range(LAYERS)))
        self.last = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, wanted):
        places = self.places(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.last(self.blocks(self.words(tokens) + places))
        return functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())


def batches():
    """A word follows from the one before it, one time in eight from nothing."""
    random = torch.Generator("cuda").manual_seed(1)
    for _ in range(STEPS):
        tokens = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=random, device="cuda")
        kept = torch.rand(BATCH, LENGTH + 1, generator=random, device="cuda") < 7 / 8
        for i in range(1, LENGTH + 1):
            follows = (5 * tokens[:, i - 1] + 3) % WORDS
            tokens[:, i] = torch.where(kept[:, i], follows, tokens[:, i])
        yield tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def trained(first, compiled, data):
    """The losses of the steps, and the median milliseconds of one."""
    torch.manual_seed(0)
    model = Model(first).to("cuda", torch.bfloat16)
    called = torch.compile(model, fullgraph=True) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
    losses, times = [], []
    for tokens, wanted in data:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        loss = called(tokens, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        end.record()
        end.synchronize()
        losses.append(loss.item())
        times.append(begin.elapsed_time(end))
    return losses, statistics.median(times[STEPS // 4:])


data = list(batches())
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Lay {lay.__version__}: "
      f"{LAYERS} layers of {WIDTH}, {BATCH} x {LENGTH} words, bf16, {STEPS} steps")
base = None
for name, first, compiled in (("torch, eager", OfTorch, False), ("lay, eager", OfLay, False),
                              ("torch, compiled", OfTorch, True), ("lay, compiled", OfLay, True)):
    losses, time = trained(first, compiled, data)
    base = base or losses
    apart = max(abs(a - b) for a, b in zip(losses, base))
    print(f"{name:16} loss {losses[0]:.4f} {losses[STEPS // 2]:.4f} {losses[-1]:.4f}, at most "
          f"{apart:.4f} from torch, eager; {time:6.2f} ms a step")
