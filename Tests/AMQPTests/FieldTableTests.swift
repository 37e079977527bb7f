import AMQP
import TestKit
import Testing

@Suite struct FieldTableTests {
    @Test(
        arguments: [
            true, 1, "", "grüße", .bytes([]), .bytes([1, 2, 3]), .timestamp(seconds: 1), .double(0.5), .void,
            .decimal(scale: 2, value: 1999),
            .array([]),
            .array([1, "two", .void, .array([true])]), .table([:]),
            .table(["a": true, "bc": .table(["d": .double(1)])]),
        ] as [FieldValue])
    func theComputedSizeOfAnEntryIsExact(value: FieldValue) {
        var writer = WireWriter()
        writer.entry("näme", value)
        #expect(FieldTable.Entry("näme", value).wireBytes == writer.bytes.count)
    }
}
