import APNSProtocol
import Crypto

/// A view of a request in the log's memory. The view is valid only during the call that receives it.
struct RequestView {
    let number: Int
    let entry: RequestLog.Entry
    /// Headers, payload, reason and fault ID, one after another.
    let bytes: UnsafeRawBufferPointer

    private func part(from start: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
    }

    var headers: HeaderRecords { HeaderRecords(part(from: 0, count: Int(entry.headerBytes))) }

    /// Name of the header that makes the request malformed. nil if no single header is the cause, or if the log had no
    /// room for the header.
    var malformedField: UnsafeRawBufferPointer? {
        entry.hasMalformedHeader ? headers.reduce(nil) { $1.name } : nil
    }

    var payload: UnsafeRawBufferPointer {
        part(from: Int(entry.headerBytes), count: Int(entry.payloadBytes))
    }

    var isPayloadWhole: Bool { Int(entry.payloadBytes) == entry.payloadByteCount }

    var reason: UnsafeRawBufferPointer {
        part(from: Int(entry.headerBytes) + Int(entry.payloadBytes), count: Int(entry.reasonBytes))
    }

    var faultID: UnsafeRawBufferPointer {
        part(from: bytes.count - Int(entry.faultBytes), count: Int(entry.faultBytes))
    }

    /// Returns the value of the first header of this name; nil if the request has no such header.
    subscript(name: StaticString) -> UnsafeRawBufferPointer? {
        for header in headers where header.name.equals(name) { return header.value }
        return nil
    }

    /// The part of the path after `/3/device/`; nil for other paths.
    var deviceToken: UnsafeRawBufferPointer? {
        self[HeaderName.path].flatMap { PathText.rest(of: $0, behind: RequestPath.devicePrefix) }
    }

    /// The value of `apns-topic`. Without the header, the bundle ID in the path of a broadcast or channel request; nil
    /// for other paths.
    var topic: UnsafeRawBufferPointer? { self[HeaderName.apnsTopic] ?? topicOfPath }

    var topicOfPath: UnsafeRawBufferPointer? { self[HeaderName.path].flatMap(PathText.bundleID) }
}
