"""The widths of values of types with a fixed width, by Lance's names."""

__all__ = ["value_bits"]

_BITS = {
    "null": 0,
    "struct": 0,
    "bool": 1,
    "int8": 8,
    "uint8": 8,
    "int16": 16,
    "uint16": 16,
    "halffloat": 16,
    "lance.bfloat16": 16,
    "int32": 32,
    "uint32": 32,
    "float": 32,
    "date32": 32,
    "time32": 32,
    "int64": 64,
    "uint64": 64,
    "double": 64,
    "date64": 64,
    "time64": 64,
    "timestamp": 64,
    "duration": 64,
}


def value_bits(logical_type: str) -> int | None:
    """Return how many bits a value takes in memory; None if that varies.

    Validity bits, and the structure of structs, are not counted.

    Examples
    --------
    >>> value_bits("timestamp:us:-"), value_bits("fixed_size_list:float:128"), value_bits("string")
    (64, 4096, None)
    """
    name, _, rest = logical_type.partition(":")
    match name:
        case "fixed_size_list":
            inner, _, count = rest.rpartition(":")
            bits = value_bits(inner)
            return None if bits is None or not count.isdecimal() else bits * int(count)
        case "fixed_size_binary":
            return 8 * int(rest) if rest.isdecimal() else None
        case "decimal":
            bits_of_number = rest.partition(":")[0]
            return int(bits_of_number) if bits_of_number.isdecimal() else None
    return _BITS.get(name)
