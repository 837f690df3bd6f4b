"""Build the library of kernels with Numba and LLVM, for this machine or as WebAssembly.

`load` loads the first, `static_site/browser/engine/memory.js` the second. Each share of the kernels
is compiled to bitcode in its own process, and another process links the shares. Around each kernel
stands a function that reads the arguments from a row of slots, as described in `load`; in
WebAssembly, an array takes a slot for the address of its data and one for its length in each
dimension. The result needs nothing from Numba or Python, only `memset` and the like.

The types of a kernel's arguments are those that its callers give it: their `compile_all` calls
every kernel on small inputs, in plain Python.

This module uses internals of Numba, which may change; see `choose` for what happens then.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from bpe_core.extras import needs_extra
from bpe_core.kernels.compiling import instructions, load
from bpe_core.kernels.compiling.decorate import CALLERS, CompiledKernel, all_kernels
from bpe_core.kernels.compiling.load import NO_MATCH, OBJECT, OK, SHARED, TABLE, WASM, Shape

with needs_extra("compile", "Compiling the kernels"):
    from llvmlite import binding as llvm
    from llvmlite import ir
    from numba import typeof, types
    from numba.core.registry import cpu_target
    from numba.np.arrayobj import make_array, populate_array
    from numba.np.numpy_support import as_dtype

_SLOT: Final = ir.IntType(64)
_INT: Final = ir.IntType(32)
_BYTE: Final = ir.IntType(8)
_BIT: Final = ir.IntType(1)
_FROM_C: Final = {"memset", "memcpy", "memmove"}
_RAISED: Final = 2
_WASM: Final = "wasm32-unknown-unknown"
_NOT_IN_TABS: Final = ("bpe_core.kernels.ngrams.", "bpe_core.kernels.picky_merging.")
"""The kernels that no page of the static site calls, which its visitors need not load."""
# All browsers have these since 2023.
_FEATURES: Final = "+simd128,+bulk-memory,+sign-ext,+mutable-globals,+nontrapping-fptoint"
_WASM_OPTIONS: Final = (
    *("--no-entry", "--import-memory", "--strip-all"),
    *("--stack-first", "-z", f"stack-size={1 << 18}"),  # so that no overflow overwrites data
)
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_OTHER_ORDER: Final = ord(">")  # the builder runs on little-endian processors only
# A process compiles the functions that a kernel calls only once, so kernels that scan text belong
# together. Both shares take about equally long.
_FIRST_SHARE: Final = ("count_words", "count_ends", "encode_text", "find_ends", "decode_ids")

Target = Literal["native", "wasm"]
Types = tuple[Any, ...]
"""The Numba types of a kernel's arguments."""


def compile_share(folder: Path, share: int, target: Target = "native") -> None:
    """Compile one of the two shares of the kernels; write bitcode and a table to the folder."""
    entry = _WasmEntry if target == "wasm" else _Entry
    module = ir.Module()
    shapes: dict[str, Shape] = {}
    made: list[Any] = []
    for kernel, arguments in _argument_types().items():
        if target == "wasm" and kernel.full_name.startswith(_NOT_IN_TABS):
            continue
        if (kernel.py_func.__name__ in _FIRST_SHARE) is (share == 0):
            dispatcher = kernel.by_numba()
            dispatcher.compile(arguments)
            compiled = dispatcher.overloads[arguments]
            name = kernel.full_name
            shapes[name] = entry(module, name, kernel, compiled).shape
            made.append(compiled)
    linked = llvm.parse_assembly(str(module))
    for compiled in made:
        linked.link_in(llvm.parse_assembly(compiled.library.get_llvm_str()))
    _remove_all_but(set(shapes), linked, _machine())
    to = folder / f"{share}.bc"
    to.write_bytes(linked.as_bitcode())
    table = {name: shape._asdict() for name, shape in shapes.items()}
    to.with_suffix(".json").write_text(json.dumps(table), encoding="utf-8")


def compile_wasm_share(folder: Path, share: int) -> None:
    """Compile one of the two shares of the kernels as `compile_share` does, for WebAssembly."""
    instructions.max_bytes = 16
    compile_share(folder, share, "wasm")


def _argument_types() -> dict[CompiledKernel, Types]:
    """Return the types of the arguments that each kernel is called with."""
    found: dict[CompiledKernel, Types] = {}
    running: list[CompiledKernel] = []

    def recorder(kernel: CompiledKernel) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if not running:  # within another kernel, numbers have other types than compiled
                given = tuple(map(typeof, arguments))
                if found.setdefault(kernel, given) != given:
                    raise TypeError(f"{kernel.full_name} has {found[kernel]} and {given}")
            running.append(kernel)
            try:
                return kernel.py_func(*arguments)
            finally:
                running.pop()

        return call

    kernels = all_kernels()
    for kernel in kernels:
        kernel.by_numba(no_cpython_wrapper=True, no_cfunc_wrapper=True)
        kernel.replace(recorder(kernel))
    with np.errstate(all="ignore"):  # NumPy warns of overflow, but hashing relies on it
        for name in CALLERS:
            import_module(name).compile_all()
    missing = [kernel.full_name for kernel in kernels if kernel not in found]
    if missing:
        raise ValueError(f"No compile_all() calls these kernels: {missing}")
    return found


class _Entry:
    """The function in the library by which a kernel is called."""

    def __init__(self, module: ir.Module, name: str, kernel: CompiledKernel, compiled: Any) -> None:
        arguments: Types = compiled.signature.args
        result = compiled.signature.return_type
        self._context: Any = cpu_target.target_context
        self._slots: list[str] = []
        self._numbers: list[int] = []
        function = ir.Function(module, ir.FunctionType(_INT, [_SLOT.as_pointer()]), name)
        (self._row,) = function.args
        self._builder = builder = ir.IRBuilder(function.append_basic_block())
        self._array_class = self._slot(0)
        code = kernel.py_func.__code__
        names = code.co_varnames[: code.co_argcount]
        values = [self._value(type, name) for type, name in zip(arguments, names, strict=True)]
        native = self._context.declare_function(module, compiled.fndesc)
        status, returned = self._context.call_conv.call_function(
            builder, native, result, arguments, values
        )
        with builder.if_then(status.is_error, likely=False):
            builder.ret(_INT(_RAISED))
        returns: list[Any] = list(result) if isinstance(result, types.UniTuple) else [result]  # pyright: ignore
        for i, type in enumerate(() if result == types.none else returns):
            value = builder.extract_value(returned, i) if len(returns) > 1 else returned
            self._store(i, type, value)
        builder.ret(_INT(OK))
        self.shape = Shape(
            groups=[type.instance_class.__name__ for type in arguments if _is_group(type)],
            slots=self._slots,
            numbers=self._numbers,
            returns=[] if result == types.none else [str(type) for type in returns],
        )

    def _value(self, type: Any, name: str) -> Any:
        """Return the value of an argument, from the next slot or slots."""
        if _is_group(type):
            fields = zip(type.types, type.fields, strict=True)
            parts = [self._value(field, f"{name}.{of}") for field, of in fields]
            return self._context.make_tuple(self._builder, type, parts)
        if isinstance(type, types.Array):
            if type.layout != "C":
                raise TypeError(f"{name} is {type}, which is not contiguous")
            return self._array(type, name)
        slot = self._next_slot(f"{name}: {type}")
        self._numbers.append(len(self._slots))
        if type == types.int64:
            return slot
        if type == types.boolean:
            return self._builder.icmp_signed("!=", slot, _SLOT(0))
        raise TypeError(f"{name} is {type}; kernels take arrays, int and bool")

    def _next_slot(self, holds: str) -> Any:
        self._slots.append(holds)
        return self._slot(len(self._slots))

    def _array(self, type: Any, name: str) -> Any:
        """Return the array whose NumPy object's address is in a slot, once its type is checked."""
        builder = self._builder
        dtype = as_dtype(type.dtype)
        at = self._next_slot(f"{name}: {type}")
        self._require(self._field(at, load.HEAD - 8, _SLOT), [self._array_class])
        flags = _C_CONTIGUOUS | _ALIGNED | (_WRITEABLE if type.mutable else 0)
        given = builder.and_(self._field(at, load.FLAGS, _INT), _INT(flags))
        self._require(given, [_INT(flags)])
        self._require(self._field(at, load.N_DIMENSIONS, _INT), [_INT(type.ndim)])
        description = self._field(at, load.DESCRIPTION, _SLOT)
        order = self._field(description, load.BYTE_ORDER, _BYTE)
        is_native = builder.icmp_unsigned("!=", order, _BYTE(_OTHER_ORDER))
        self._require(is_native, [_BIT(1)])
        # Two C types may be the same to NumPy: on Linux, long and long long.
        same = {
            np.dtype(code).num
            for code in np.typecodes["AllInteger"] + np.typecodes["Float"]
            if np.dtype(code) == dtype
        }
        number = self._field(description, load.TYPE_NUMBER, _INT)
        self._require(number, [_INT(each) for each in sorted(same)])
        dimensions = self._field(at, load.DIMENSIONS, _SLOT)
        shape = [self._field(dimensions, 8 * i, _SLOT) for i in range(type.ndim)]
        return self._array_at(type, self._field(at, load.DATA, _SLOT), shape)

    def _array_at(self, type: Any, data: Any, shape: list[Any]) -> Any:
        builder = self._builder
        size_of_item = as_dtype(type.dtype).itemsize
        strides: list[Any] = [_SLOT(size_of_item)]
        for size in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], size))
        array = make_array(type)(self._context, builder)
        element = self._context.get_data_type(type.dtype).as_pointer()
        pointer = builder.inttoptr(data, element)
        populate_array(array, pointer, shape, strides, size_of_item, None)
        return array._getvalue()

    def _slot(self, number: int) -> Any:
        return self._builder.load(self._builder.gep(self._row, [_INT(number)]))

    def _store(self, number: int, type: Any, value: Any) -> None:
        if type not in (types.int64, types.boolean):
            raise TypeError(f"a kernel returns {type}; only int64 and bool are supported")
        wide = value if type == types.int64 else self._builder.zext(value, _SLOT)
        self._builder.store(wide, self._builder.gep(self._row, [_INT(number)]))

    def _field(self, structure: Any, offset: int, type: Any) -> Any:
        address = self._builder.add(structure, _SLOT(offset))
        return self._builder.load(self._builder.inttoptr(address, type.as_pointer()))

    def _require(self, value: Any, expected: list[Any]) -> None:
        """Return NO_MATCH, unless a value is one of those expected."""
        builder = self._builder
        same = _BIT(0)
        for one in expected:
            same = builder.or_(same, builder.icmp_unsigned("==", value, one))
        with builder.if_then(builder.not_(same), likely=False):
            builder.ret(_INT(NO_MATCH))


class _WasmEntry(_Entry):
    """The same in WebAssembly, where arrays are parts of one memory rather than NumPy objects."""

    def _array(self, type: Any, name: str) -> Any:
        data = self._next_slot(f"{name}: {type}")
        shape = [self._next_slot(f"{name}.shape[{i}]") for i in range(type.ndim)]
        return self._array_at(type, data, shape)


def _is_group(type: Any) -> bool:
    return isinstance(type, types.BaseNamedTuple)


def link_shares(folder: Path) -> None:
    """Link the shares in a folder to a library there, and load it to check it.

    Without a C compiler, it is an object file, which LLVM links when it is loaded.
    Raises ValueError if it needs anything but the C library.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    linked, _ = _joined_shares(folder, "native")
    needed = {each.name for each in linked.functions if each.is_declaration}
    needed -= {name for name in needed if name.startswith("llvm.")}
    if needed - _FROM_C:
        raise ValueError(
            f"The kernels need {sorted(needed - _FROM_C)}, which is not in C's library"
        )
    compiled = folder / f"library{OBJECT}"
    compiled.write_bytes(_machine().emit_object(linked))
    shared = folder / f"library{SHARED}"
    if _link_with_c_compiler(compiled, shared):
        compiled.unlink()
    made = shared if shared.exists() else compiled
    with made.open("ab") as file:
        file.write(load.digest(made.read_bytes()))
    load.load(made)


def link_wasm(folder: Path) -> None:
    """Link the shares in a folder to a WebAssembly module there, which imports only its memory.

    Raises OSError if there is no linker, and ValueError if it fails.
    """
    linker = shutil.which("wasm-ld")
    if linker is None:
        raise OSError("There is no wasm-ld. Install LLVM's linker, in Debian the package lld.")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = _machine("wasm")
    linked, names = _joined_shares(folder, "wasm")
    options = llvm.PipelineTuningOptions(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(linked, builder)
    compiled = folder / f"library{OBJECT}"
    compiled.write_bytes(machine.emit_object(linked))
    to = ["--export=__heap_base", *(f"--export={name}" for name in sorted(names)), "-o"]
    command = [linker, *_WASM_OPTIONS, *to, str(folder / f"library{WASM}"), str(compiled)]
    made = subprocess.run(command, capture_output=True, check=False, text=True)
    if made.returncode:
        raise ValueError(f"wasm-ld could not link the kernels: {made.stderr}")


def _joined_shares(folder: Path, target: Target) -> tuple[Any, set[str]]:
    """Return one module of the shares in a folder and of the table, and what is called in it."""
    table: dict[str, Any] = {}
    modules: list[Any] = []
    for share in sorted(folder.glob("*.bc")):
        modules.append(llvm.parse_bitcode(share.read_bytes()))
        table |= json.loads(share.with_suffix(".json").read_text(encoding="utf-8"))
    linked = llvm.parse_assembly("")
    machine = _machine(target)
    for module in (*modules, _table_module(table)):
        if target == "wasm":
            # Numba compiled it for this machine, but did not optimize it, so all that depends on
            # the machine is in its head and in the attributes of functions.
            text = re.sub(r' "(target-cpu|target-features|tune-cpu)"="[^"]*"', "", str(module))
            portable = llvm.parse_assembly(text)
            portable.triple, portable.data_layout = machine.triple, str(machine.target_data)
            linked.link_in(portable)
        else:
            linked.link_in(module)
    _remove_all_but({*table, TABLE}, linked, machine)
    return linked, {*table, TABLE}


def _table_module(table: dict[str, Any]) -> Any:
    """Return a module that holds the table as a string of C."""
    module = ir.Module()
    data = bytearray(json.dumps(table).encode() + b"\0")
    text = ir.Constant(ir.ArrayType(_BYTE, len(data)), data)
    variable = ir.GlobalVariable(module, text.type, TABLE)
    variable.initializer = text  # pyright: ignore[reportAttributeAccessIssue]
    variable.global_constant = True
    return llvm.parse_assembly(str(module))


def _remove_all_but(names: set[str], module: Any, machine: Any) -> None:
    """Hide all but the named functions and variables, and remove whatever they do not need."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in names:
            each.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions()))


def _machine(target: Target = "native") -> Any:
    """Return LLVM's description of WebAssembly, or of the processor that Numba compiled for."""
    if target == "wasm":
        return llvm.Target.from_triple(_WASM).create_target_machine(features=_FEATURES, opt=3)
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="default"
    )


def _link_with_c_compiler(compiled: Path, to: Path) -> bool:
    """Link an object file to a shared library; return False if no C compiler can."""
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    command = [compiler, "-shared", "-o", str(to), str(compiled)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
