import Crypto
import Testing

@testable import PostgreSQL

@Suite struct PostgresValueTests {
    private static let uuid = UUIDValue(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)

    @Test func scalarsInNetworkOrder() {
        var parameters = PostgresParameters()
        parameters.append(Int16(0x0102))
        parameters.append(Int32(-2))
        parameters.append(Int64(3))
        parameters.append(true)
        parameters.append("é")
        parameters.append([9, 0] as [UInt8])
        parameters.append(nil as Int64?)
        parameters.append(Self.uuid)
        #expect(
            parameters.bytes == [
                1, 2, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0xc3, 0xa9, 9, 0, 0, 0x11, 0x22, 0x33, 0x44,
                0x55,
                0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
            ])
        #expect(parameters.ends.map(\.end) == [2, 6, 14, 15, 17, 19, 19, 35])
        #expect(parameters.ends.map(\.isNull) == [false, false, false, false, false, false, true, false])
    }

    @Test func pointersToEachValue() {
        var parameters = PostgresParameters()
        parameters.append("")
        parameters.append(nil as String?)
        parameters.append("ab")
        parameters.append("")
        parameters.withPointers { values, lengths, formats in
            #expect((0..<4).map { lengths?[$0] } == [0, 0, 2, 0])
            #expect((0..<4).map { formats?[$0] } == [1, 1, 1, 1])
            #expect((0..<4).map { values?[$0] == nil } == [false, true, false, false])
            #expect(values?[2].map { UInt8(bitPattern: $0[1]) } == UInt8(ascii: "b"))
        }
    }

    @Test func emptyValuesAreNotNull() {
        var parameters = PostgresParameters()
        parameters.append("")
        parameters.withPointers { values, _, _ in #expect(values?[0] != nil) }
        PostgresParameters().withPointers { _, _, _ in }
    }

    @Test func arrays() {
        var parameters = PostgresParameters()
        parameters.append(array: [Int16(7), nil])
        #expect(
            parameters.bytes == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 21, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0xff, 0xff, 0xff, 0xff,
            ])
        var empty = PostgresParameters()
        empty.append(array: [] as [UUIDValue])
        #expect(empty.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b, 0x86])
    }

    private func elements<Value: PostgresValue>(_ bytes: [UInt8], _ type: Value.Type = Value.self) -> [Value]? {
        bytes.withUnsafeBytes { PostgresRows.elements(of: $0, as: Value.self) }
    }

    private func roundTrip<Value: PostgresValue & Equatable>(_ values: [Value]) {
        var parameters = PostgresParameters()
        parameters.append(array: values)
        #expect(elements(parameters.bytes, Value.self) == values)
        // The bytes are malformed if they are truncated or followed by an extra byte.
        for length in parameters.bytes.indices {
            #expect(elements(Array(parameters.bytes[..<length]), Value.self) == nil)
        }
        #expect(elements(parameters.bytes + [0], Value.self) == nil)
    }

    @Test func arraysAreReadBack() {
        roundTrip([Int16.min, 0, .max])
        roundTrip([Int32.min, 0, .max])
        roundTrip([Int64.min, 0, .max])
        roundTrip([true, false])
        roundTrip(["", "é", "abc"])
        roundTrip([[], [0, 255]] as [[UInt8]])
        roundTrip([Self.uuid])
        roundTrip([] as [UUIDValue])
    }

    @Test func malformedArrays() {
        var parameters = PostgresParameters()
        parameters.append(array: [Int16(7)])
        for (offset, byte) in [(3, 2), (11, 23), (12, 0x80), (15, 9), (23, 3), (20, 0x80)] as [(Int, UInt8)] {
            var bytes = parameters.bytes
            bytes[offset] = byte
            #expect(elements(bytes, Int16.self) == nil, "\(offset)")
        }
        var nulls = PostgresParameters()
        nulls.append(array: [nil] as [Int16?])
        #expect(elements(nulls.bytes, Int16.self) == nil)
    }

    @Test func malformedScalars() {
        func value<Value: PostgresValue>(_ bytes: [UInt8], _ type: Value.Type) -> Value? {
            bytes.withUnsafeBytes { Value(binary: $0) }
        }
        #expect(value([1], Int16.self) == nil)
        #expect(value([1, 2, 3], Int32.self) == nil)
        #expect(value([], Int64.self) == nil)
        #expect(value([2], Bool.self) == nil)
        #expect(value([], Bool.self) == nil)
        #expect(value([0xff], String.self) == nil)
        #expect(value([UInt8](repeating: 0, count: 15), UUIDValue.self) == nil)
    }
}
