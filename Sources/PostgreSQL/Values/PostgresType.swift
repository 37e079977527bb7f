/// A type of PostgreSQL that this module can encode and decode.
///
/// The raw value is the object identifier of `pg_type`, which is the same in every database.
public enum PostgresType: UInt32, Sendable, CaseIterable {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case uuid = 2950
    case boolArray = 1000
    case byteaArray = 1001
    case int2Array = 1005
    case int4Array = 1007
    case textArray = 1009
    case int8Array = 1016
    case uuidArray = 2951
}
