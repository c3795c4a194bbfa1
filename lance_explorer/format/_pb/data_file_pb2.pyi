from lance_explorer.format._pb import table_pb2 as _table_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ColumnPages(_message.Message):
    __slots__ = ("encoding", "pages", "buffer_offsets", "buffer_sizes")
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    BUFFER_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    BUFFER_SIZES_FIELD_NUMBER: _ClassVar[int]
    encoding: PageEncoding
    pages: _containers.RepeatedCompositeFieldContainer[ColumnPage]
    buffer_offsets: _containers.RepeatedScalarFieldContainer[int]
    buffer_sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, encoding: _Optional[_Union[PageEncoding, _Mapping]] = ..., pages: _Optional[_Iterable[_Union[ColumnPage, _Mapping]]] = ..., buffer_offsets: _Optional[_Iterable[int]] = ..., buffer_sizes: _Optional[_Iterable[int]] = ...) -> None: ...

class ColumnPage(_message.Message):
    __slots__ = ("buffer_offsets", "buffer_sizes", "num_values", "encoding", "priority")
    BUFFER_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    BUFFER_SIZES_FIELD_NUMBER: _ClassVar[int]
    NUM_VALUES_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    buffer_offsets: _containers.RepeatedScalarFieldContainer[int]
    buffer_sizes: _containers.RepeatedScalarFieldContainer[int]
    num_values: int
    encoding: PageEncoding
    priority: int
    def __init__(self, buffer_offsets: _Optional[_Iterable[int]] = ..., buffer_sizes: _Optional[_Iterable[int]] = ..., num_values: _Optional[int] = ..., encoding: _Optional[_Union[PageEncoding, _Mapping]] = ..., priority: _Optional[int] = ...) -> None: ...

class PageEncoding(_message.Message):
    __slots__ = ("indirect", "direct")
    INDIRECT_FIELD_NUMBER: _ClassVar[int]
    DIRECT_FIELD_NUMBER: _ClassVar[int]
    indirect: IndirectEncoding
    direct: DirectEncoding
    def __init__(self, indirect: _Optional[_Union[IndirectEncoding, _Mapping]] = ..., direct: _Optional[_Union[DirectEncoding, _Mapping]] = ...) -> None: ...

class IndirectEncoding(_message.Message):
    __slots__ = ("offset", "size")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    offset: int
    size: int
    def __init__(self, offset: _Optional[int] = ..., size: _Optional[int] = ...) -> None: ...

class DirectEncoding(_message.Message):
    __slots__ = ("encoding",)
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    encoding: bytes
    def __init__(self, encoding: _Optional[bytes] = ...) -> None: ...

class PageLayout(_message.Message):
    __slots__ = ("mini_block", "constant", "full_zip")
    MINI_BLOCK_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    FULL_ZIP_FIELD_NUMBER: _ClassVar[int]
    mini_block: MiniBlockLayout
    constant: ConstantLayout
    full_zip: FullZipLayout
    def __init__(self, mini_block: _Optional[_Union[MiniBlockLayout, _Mapping]] = ..., constant: _Optional[_Union[ConstantLayout, _Mapping]] = ..., full_zip: _Optional[_Union[FullZipLayout, _Mapping]] = ...) -> None: ...

class MiniBlockLayout(_message.Message):
    __slots__ = ("num_items",)
    NUM_ITEMS_FIELD_NUMBER: _ClassVar[int]
    num_items: int
    def __init__(self, num_items: _Optional[int] = ...) -> None: ...

class ConstantLayout(_message.Message):
    __slots__ = ("layers",)
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    layers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, layers: _Optional[_Iterable[int]] = ...) -> None: ...

class FullZipLayout(_message.Message):
    __slots__ = ("num_visible_items",)
    NUM_VISIBLE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    num_visible_items: int
    def __init__(self, num_visible_items: _Optional[int] = ...) -> None: ...

class FileDescriptor(_message.Message):
    __slots__ = ("schema", "num_rows")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    NUM_ROWS_FIELD_NUMBER: _ClassVar[int]
    schema: FileSchema
    num_rows: int
    def __init__(self, schema: _Optional[_Union[FileSchema, _Mapping]] = ..., num_rows: _Optional[int] = ...) -> None: ...

class FileSchema(_message.Message):
    __slots__ = ("fields",)
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedCompositeFieldContainer[_table_pb2.Field]
    def __init__(self, fields: _Optional[_Iterable[_Union[_table_pb2.Field, _Mapping]]] = ...) -> None: ...

class LegacyMetadata(_message.Message):
    __slots__ = ("batch_offsets",)
    BATCH_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    batch_offsets: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, batch_offsets: _Optional[_Iterable[int]] = ...) -> None: ...
