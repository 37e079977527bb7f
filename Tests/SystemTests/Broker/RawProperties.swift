import AMQP
import TestKit

/// The properties of a message as raw bytes, which need not be valid UTF-8. Section 4.2.6.1 of AMQP 0-9-1 defines their
/// format.
struct RawProperties {
    var contentType: [UInt8]?
    var contentEncoding: [UInt8]?
    /// The content of the headers table, without its length.
    var headers: [UInt8]?
    var deliveryMode: UInt8? = 2
    var priority: UInt8?
    var correlationID: [UInt8]?
    var replyTo: [UInt8]?
    var messageID: [UInt8]?
    var timestamp: UInt64?
    var type: [UInt8]?
    var appID: [UInt8]?
    var clusterID: [UInt8]?

    /// The encoded property flags and property list.
    var bytes: [UInt8] {
        var flags: UInt16 = 0
        var list = WireWriter()
        func add<Value>(_ value: Value?, bit: UInt16, _ write: (inout WireWriter, Value) -> Void) {
            guard let value else { return }
            flags |= 1 << bit
            write(&list, value)
        }
        func add(_ text: [UInt8]?, bit: UInt16) {
            add(text, bit: bit) { writer, text in
                writer.octet(UInt8(text.count))
                writer.raw(text)
            }
        }
        add(contentType, bit: 15)
        add(contentEncoding, bit: 14)
        add(headers, bit: 13) { $0.longString($1) }
        add(deliveryMode, bit: 12) { $0.octet($1) }
        add(priority, bit: 11) { $0.octet($1) }
        add(correlationID, bit: 10)
        add(replyTo, bit: 9)
        add(messageID, bit: 7)
        add(timestamp, bit: 6) { $0.longLong($1) }
        add(type, bit: 5)
        add(appID, bit: 3)
        add(clusterID, bit: 2)
        var all = WireWriter()
        all.short(flags)
        all.raw(list.bytes)
        return all.bytes
    }

    mutating func addHeader(_ name: String, _ value: FieldValue) {
        var table = WireWriter()
        table.entry(name, value)
        headers = (headers ?? []) + table.bytes
    }

    /// Adds a header of nested tables or arrays that takes about `bytes` bytes.
    mutating func addNest(bytes: Int, ofTables: Bool) {
        let name: [UInt8] = [4] + Array("nest".utf8)
        let type = UInt8(ascii: ofTables ? "F" : "A")
        // A value in a table is preceded by its name, which is empty here.
        let levelBytes = ofTables ? 6 : 5
        let levels = max(1, (bytes - name.count) / levelBytes)
        var nest = WireWriter()
        nest.raw(name)
        for level in 1...levels {
            if ofTables, level > 1 { nest.octet(0) }
            nest.octet(type)
            nest.long(UInt32((levels - level) * levelBytes))
        }
        headers = (headers ?? []) + nest.bytes
    }

    /// The number of header bytes that can still be added before the content header exceeds the maximum frame size.
    var headerRoom: Int {
        var others = self
        others.headers = []
        // Class, weight and body size precede the properties.
        return RawPublisher.frameBytesMax - Frame.overheadBytes - 12 - others.bytes.count - (headers?.count ?? 0)
    }
}
