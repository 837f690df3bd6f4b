"""Tell Numba which instructions of LLVM the functions of `kernels.intrinsics` are.

On a processor without vectors of 64 bytes, LLVM uses two or four shorter ones. For
WebAssembly `max_bytes` is 16: LLVM 22 makes wrong code of longer comparisons there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from bpe_core.extras import needs_extra
from bpe_core.kernels import intrinsics

with needs_extra("compile", "Compiling the kernels"):
    from llvmlite import ir
    from numba import types
    from numba.extending import lower_builtin, type_callable
    from numba.np.arrayobj import make_array

max_bytes = 64
"""The size of the vectors that are compared."""
_INT: Final = ir.IntType(64)
_SIXTEEN: Final = ir.VectorType(ir.IntType(32), 16)
_DEFINED_FOR_ZERO: Final = ir.Constant(ir.IntType(1), 0)


@type_callable(intrinsics.bytes_between)
def _type_bytes_between(context: Any) -> Callable[..., Any]:
    return lambda text, at, low, high: types.uint64


@lower_builtin(intrinsics.bytes_between, types.Array, types.Integer, types.Integer, types.Integer)
def _lower_bytes_between(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    text = make_array(signature.args[0])(context, builder, given[0])
    low, high = (
        context.cast(builder, value, type, types.uint8)
        for value, type in zip(given[2:], signature.args[2:], strict=True)
    )
    span = builder.sub(high, low)

    def compare(bytes: Any) -> Any:
        above_low = builder.sub(bytes, _repeated(builder, low, bytes.type))
        return builder.icmp_unsigned("<=", above_low, _repeated(builder, span, bytes.type))

    return _mask(builder, text, given[1], intrinsics.BYTES, compare)


def _mask(builder: Any, array: Any, at: Any, n: int, compare: Callable[[Any], Any]) -> Any:
    """Return as bits of a uint64 what a comparison gives for the n numbers from array[at] on."""
    element = array.data.type.pointee
    n_at_once = min(n, max_bytes * 8 // element.width)
    vector = ir.VectorType(element, n_at_once)
    mask: Any = None
    for first in range(0, n, n_at_once):
        loaded = _loaded(builder, array, builder.add(at, at.type(first)) if first else at, vector)
        bits = builder.bitcast(compare(loaded), ir.IntType(n_at_once))
        part = builder.zext(bits, _INT) if n_at_once < _INT.width else bits
        mask = part if mask is None else builder.or_(mask, builder.shl(part, _INT(first)))
    return mask


def _repeated(builder: Any, number: Any, vector: Any) -> Any:
    """Return a vector of the same number."""
    undefined = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(undefined, number, ir.IntType(32)(0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(one, undefined, first)


def _define_count(function: Callable[..., int], count: Callable[[Any, Any], Any]) -> None:
    """Define a function that counts bits of a mask."""

    @type_callable(function)
    def typed(context: Any) -> Callable[..., Any]:  # pyright: ignore[reportUnusedFunction]
        return lambda mask: types.int64

    @lower_builtin(function, types.uint64)
    def lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
        return count(builder, given[0])


_define_count(
    intrinsics.trailing_zeros, lambda builder, mask: builder.cttz(mask, _DEFINED_FOR_ZERO)
)
_define_count(intrinsics.leading_zeros, lambda builder, mask: builder.ctlz(mask, _DEFINED_FOR_ZERO))
_define_count(intrinsics.count_ones, lambda builder, mask: builder.ctpop(mask))


@type_callable(intrinsics.find_in_four)
def _type_find_in_four(context: Any) -> Callable[..., Any]:
    return lambda array, at, number: types.uint64


@lower_builtin(intrinsics.find_in_four, types.Array, types.Integer, types.uint64)
def _lower_find_in_four(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    return _find_first(builder, _equal_in_four(builder, array, given[1], given[2]), 4)


@type_callable(intrinsics.find_both_in_four)
def _type_find_both_in_four(context: Any) -> Callable[..., Any]:
    return lambda array, at, one, other: types.uint64


@lower_builtin(intrinsics.find_both_in_four, types.Array, types.Integer, types.uint64, types.uint64)
def _lower_find_both_in_four(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    after = builder.add(given[1], given[1].type(4))
    one = _equal_in_four(builder, array, given[1], given[2])
    other = _equal_in_four(builder, array, after, given[3])
    return _find_first(builder, builder.and_(one, other), 4)


def _equal_in_four(builder: Any, array: Any, at: Any, number: Any) -> Any:
    def compare(numbers: Any) -> Any:
        return builder.icmp_unsigned("==", numbers, _repeated(builder, number, numbers.type))

    return _mask(builder, array, at, 4, compare)


def _loaded(builder: Any, array: Any, at: Any, vector: Any) -> Any:
    """Return a vector of the numbers from array[at] on."""
    place = builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())
    return builder.load(place, align=vector.element.width // 8)


def _find_first(builder: Any, mask: Any, n: int) -> Any:
    """Return the index of the first of n bits that is set in a mask, or n if none is."""
    return builder.cttz(builder.or_(mask, _INT(1 << n)), _DEFINED_FOR_ZERO)


@type_callable(intrinsics.find_shifted_in_eight)
def _type_find_shifted_in_eight(context: Any) -> Callable[..., Any]:
    return lambda array, at, bits, number: types.uint64


@lower_builtin(
    intrinsics.find_shifted_in_eight, types.Array, types.Integer, types.uint64, types.uint64
)
def _lower_find_shifted_in_eight(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])

    def compare(numbers: Any) -> Any:
        bits, number = (_repeated(builder, each, numbers.type) for each in given[2:])
        return builder.icmp_unsigned("==", builder.lshr(numbers, bits), number)

    return _find_first(builder, _mask(builder, array, given[1], 8, compare), 8)


@type_callable(intrinsics.lowest_of_sixteen)
def _type_lowest_of_sixteen(context: Any) -> Callable[..., Any]:
    return lambda array, at: types.uint32


@lower_builtin(intrinsics.lowest_of_sixteen, types.Array, types.Integer)
def _lower_lowest_of_sixteen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    numbers = _loaded(builder, array, given[1], _SIXTEEN)
    half = _SIXTEEN.count
    while half > 1:
        half //= 2
        others = builder.shuffle_vector(numbers, numbers, _after(half))
        numbers = builder.select(builder.icmp_unsigned("<", numbers, others), numbers, others)
    return builder.extract_element(numbers, ir.IntType(32)(0))


def _after(n: int) -> Any:
    """Return a shuffle mask that brings to each place the number n places later."""
    places = [(i + n) % _SIXTEEN.count for i in range(_SIXTEEN.count)]
    return ir.Constant(ir.VectorType(ir.IntType(32), _SIXTEEN.count), places)


@type_callable(intrinsics.prefetch)
def _type_prefetch(context: Any) -> Callable[..., Any]:
    return lambda array, at: types.none


@lower_builtin(intrinsics.prefetch, types.Array, types.Integer)
def _lower_prefetch(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    pointer = ir.IntType(8).as_pointer()
    place = builder.bitcast(builder.gep(array.data, [given[1]]), pointer)
    number = ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], function_type)
    builder.call(prefetch, [place, number(0), number(3), number(1)])
    return context.get_dummy_value()


@type_callable(intrinsics.store_pair)
def _type_store_pair(context: Any) -> Callable[..., Any]:
    return lambda array, at, pair: types.none


@lower_builtin(intrinsics.store_pair, types.Array, types.Integer, types.uint64)
def _lower_store_pair(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, given[0])
    place = builder.gep(array.data, [given[1]])
    builder.store(given[2], builder.bitcast(place, ir.IntType(64).as_pointer()), align=4)
    return context.get_dummy_value()
