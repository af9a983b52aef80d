"""Which module may include which: the table of the design, as data.

A module is the longest prefix in MODULES that a path starts with. EDGES names, for each module, the
modules it may include besides itself, FOUNDATION and the standard library.
"""

FOUNDATION = ("harness/api", "harness/core")

# What a language model is made of, lowest first: each may include those before it.
MODELS = "methods/models/"
MODEL_LAYERS = tuple(MODELS + name for name in (
    "greedy_oracle", "checkpoints", "tokenizers", "registry", "prompting", "retrieval", "kernels", "nn", "peft", "architectures",
    "decoding", "training", "ranking", "inspect", "prompted"))
# Those that link no LibTorch.
MODEL_FORMATS = MODEL_LAYERS[:6]

# What run, score, gate and claims stand on.
HARNESS_BASE = ("harness/store", "harness/plan", "harness/config", "harness/host")
HARNESS_ALL = HARNESS_BASE + ("harness/run", "harness/score", "harness/compare", "harness/gate")

# Inside metrics, the shared parts; a metric never includes another metric but for these.
METRIC_SHARED = ("metrics/text", "metrics/stats", "metrics/punkt")
# The exceptions: counting is written once, and so are the segmenters.
METRIC_EXTRA = {"metrics/chinese": ("metrics/rouge",),
                "metrics/matches": ("metrics/chinese",),
                "metrics/set_rouge": ("metrics/rouge", "metrics/chinese"),
                "metrics/surface": ("metrics/chinese",)}

# Any name ending in '/*' stands for every module below that folder.
EDGES = {
    "harness/api": (),
    "harness/core": (),
    "harness/store": (),
    "harness/plan": (),
    "harness/config": (),
    "harness/host": (),
    "harness/run": HARNESS_BASE,
    "harness/score": HARNESS_BASE + ("datasets", "metrics/stats", "metrics/punkt", "metrics/rouge", "metrics/matches"),
    "harness/compare": HARNESS_BASE + ("harness/run", "harness/score", "metrics/stats"),
    "harness/gate": HARNESS_BASE + ("harness/run", "harness/score", "harness/compare", "metrics/stats"),
    "harness/claims": HARNESS_BASE + ("harness/run", "harness/score", "harness/compare", "harness/gate",
                                      "datasets"),
    "harness/cli": HARNESS_ALL + ("harness/claims",) + ("datasets", "metrics", "metrics/bertscore", "metrics/rouge155",
                                  "metrics/text", "reports", "methods"),
    "harness/apps": ("*",),
    "datasets": (),
    "metrics": ("metrics/*",),
    "reports": ("harness/store", "harness/compare", "harness/claims"),
    "methods": ("methods/*",),
}

# Folders with rules of their own beside EDGES, by file.
FAMILY_EXTRA = {"methods/extractive": ("metrics/rouge", "metrics/text"),
                "methods/models/retrieval": ("metrics/text",),
                "methods/models/greedy_oracle": ("metrics/rouge", "metrics/text"),
                "methods/models/prompted": ("metrics/rouge",)}

# harness/cli sees of methods only the explicit lists, and scores no files itself.
CLI_METHOD_FILES = ("methods/families.h",)
FILE_SCORING = ("harness/score/item_keeper.h", "harness/score/item_source.h",
                "harness/score/reference_records.h", "harness/score/rouge_tries.h",
                "harness/score/text_scorer.h")

# Where LibTorch may be included. Everything else is torch-free, in its whole include closure.
TORCH_FOLDERS = MODEL_LAYERS[len(MODEL_FORMATS):]
TORCH_FAMILY_FILES = "session"
TORCH_ROOT_FILES = ("methods/tensor_sessions.cpp", "harness/apps/qfs_host.cpp")
TORCH_HEADERS = ("torch/", "ATen/", "c10/", "caffe2/")

# Quoted includes that the build writes and the tree does not hold.
GENERATED = ()


def module_of(path):
    """The module a path such as 'methods/extractive/bm25.cpp' belongs to, or None outside the tree."""
    parts = path.split("/")
    if path.startswith(MODELS):
        return "/".join(parts[:3])
    if parts[0] in ("harness", "methods", "metrics"):
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    if parts[0] in ("datasets", "reports"):
        return parts[0]
    return None


def allowed_modules(module):
    """The modules that `module` may include besides itself and FOUNDATION."""
    if module in EDGES:
        return EDGES[module]
    if module in MODEL_LAYERS:
        return MODEL_LAYERS[:MODEL_LAYERS.index(module)] + FAMILY_EXTRA.get(module, ())
    if module.startswith("methods/"):
        return MODEL_LAYERS + FAMILY_EXTRA.get(module, ())
    if module in METRIC_SHARED:
        return METRIC_SHARED[:METRIC_SHARED.index(module)]
    if module.startswith("metrics/"):
        return METRIC_SHARED + METRIC_EXTRA.get(module, ())
    return ()


def edge_allowed(source, target):
    """Whether the file `source` may include the file `target`."""
    here, there = module_of(source), module_of(target)
    if here == there:
        return True
    if here == "harness/api":
        return False
    if there == "harness/api" or (there == "harness/core"):
        return True
    if here == "harness/cli" and there == "methods":
        return target in CLI_METHOD_FILES
    if here == "harness/cli" and target in FILE_SCORING:
        return False
    for entry in allowed_modules(here):
        if entry == "*" or entry == there:
            return True
        if entry.endswith("/*") and there is not None and there.startswith(entry[:-1]):
            return True
    return False


def may_include_torch(path):
    """Whether LibTorch headers may appear in this file; nvcc needs half a minute for them."""
    if path.endswith((".cu", ".cuh")):
        return False
    module = module_of(path)
    if path in TORCH_ROOT_FILES or module in TORCH_FOLDERS:
        return True
    is_family = (module or "").startswith("methods/") and module not in MODEL_FORMATS
    return is_family and path.split("/")[-1].startswith(TORCH_FAMILY_FILES)
