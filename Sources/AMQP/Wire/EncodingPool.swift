import CRabbitMQ

/// A memory pool for the strings and tables that librabbitmq encodes.
///
/// The pool reuses its memory, so a message usually allocates nothing.
final class EncodingPool {
    private static let pageBytes = 16 * 1024
    private let pool: UnsafeMutablePointer<amqp_pool_t>
    /// Whether a table has a name of more than 255 bytes, whose length librabbitmq would encode incorrectly.
    private(set) var hasLongName = false

    init() {
        pool = .allocate(capacity: 1)
        init_amqp_pool(pool, Self.pageBytes)
    }

    deinit {
        empty_amqp_pool(pool)
        pool.deallocate()
    }

    /// Releases all allocations of the pool for reuse.
    func recycle() {
        recycle_amqp_pool(pool)
        hasLongName = false
    }

    func bytes(_ string: String) -> amqp_bytes_t {
        // `withUTF8` would need a mutable copy, which costs reference counting.
        string.utf8.withContiguousStorageIfAvailable { bytes(UnsafeRawBufferPointer($0)) }
            ?? Array(string.utf8).withUnsafeBytes { bytes($0) }
    }

    /// Copies the string into the pool. Returns an empty string for nil. The flag of the property distinguishes nil
    /// from an empty string.
    func bytes(_ string: String?) -> amqp_bytes_t {
        string.map { bytes($0) } ?? amqp_bytes_t()
    }

    func bytes(_ source: UnsafeRawBufferPointer) -> amqp_bytes_t {
        guard let start = source.baseAddress, !source.isEmpty else { return amqp_bytes_t() }
        let copy = allocate(source.count)
        copy.copyMemory(from: start, byteCount: source.count)
        return amqp_bytes_t(len: source.count, bytes: copy)
    }

    func table(_ table: FieldTable) -> amqp_table_t {
        let count = table.entries.count
        guard count > 0 else { return amqp_table_t() }
        let entries = array(of: amqp_table_entry_t.self, count)
        for (index, entry) in table.entries.enumerated() {
            if entry.name.utf8.count > 255 { hasLongName = true }
            (entries + index).initialize(to: amqp_table_entry_t(key: bytes(entry.name), value: value(entry.value)))
        }
        return amqp_table_t(num_entries: Int32(count), entries: entries)
    }

    private func array<Element>(of _: Element.Type, _ count: Int) -> UnsafeMutablePointer<Element> {
        allocate(count * MemoryLayout<Element>.stride).bindMemory(to: Element.self, capacity: count)
    }

    /// Allocates memory from the pool. Traps if memory is exhausted, because a missing string would change the message.
    private func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let memory = amqp_pool_alloc(pool, byteCount) else { fatalError("out of memory") }
        return memory
    }

    private func value(_ value: FieldValue) -> amqp_field_value_t {
        var result = amqp_field_value_t()
        switch value {
        case .boolean(let boolean):
            result.kind = UInt8(AMQP_FIELD_KIND_BOOLEAN.rawValue)
            result.value.boolean = boolean ? 1 : 0
        case .integer(let integer):
            result.kind = UInt8(AMQP_FIELD_KIND_I64.rawValue)
            result.value.i64 = integer
        case .string(let string):
            result.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
            result.value.bytes = bytes(string)
        case .bytes(let array):
            result.kind = UInt8(AMQP_FIELD_KIND_BYTES.rawValue)
            result.value.bytes = array.withUnsafeBytes { bytes($0) }
        case .timestamp(let seconds):
            result.kind = UInt8(AMQP_FIELD_KIND_TIMESTAMP.rawValue)
            result.value.u64 = seconds
        case .double(let double):
            result.kind = UInt8(AMQP_FIELD_KIND_F64.rawValue)
            result.value.f64 = double
        case .decimal(let scale, let number):
            result.kind = UInt8(AMQP_FIELD_KIND_DECIMAL.rawValue)
            result.value.decimal = amqp_decimal_t(decimals: scale, value: number)
        case .table(let inner):
            result.kind = UInt8(AMQP_FIELD_KIND_TABLE.rawValue)
            result.value.table = table(inner)
        case .array(let values):
            result.kind = UInt8(AMQP_FIELD_KIND_ARRAY.rawValue)
            result.value.array = cArray(values)
        case .void, .unreadable:
            result.kind = UInt8(AMQP_FIELD_KIND_VOID.rawValue)
        }
        return result
    }

    private func cArray(_ values: [FieldValue]) -> amqp_array_t {
        guard !values.isEmpty else { return amqp_array_t() }
        let entries = array(of: amqp_field_value_t.self, values.count)
        for (index, element) in values.enumerated() {
            (entries + index).initialize(to: value(element))
        }
        return amqp_array_t(num_entries: Int32(values.count), entries: entries)
    }
}
