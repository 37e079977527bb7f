public import APNSProtocol
public import Crypto
public import HTTP2

/// One request and what became of it, as the log keeps it: nothing in it can be pushed with, but for the device token,
/// which is told whole only to those who ask for it.
public struct LoggedRequest: Sendable {
    /// Counts from 1, in the order in which requests arrived whole, or were found to be malformed.
    public let number: Int
    private let entry: RequestLog.Entry
    private let bytes: [UInt8]

    init(_ view: RequestView) {
        number = view.number
        entry = view.entry
        bytes = Array(view.bytes)
    }

    func withView<Result>(_ body: (RequestView) -> Result) -> Result {
        bytes.withUnsafeBytes { body(RequestView(number: number, entry: entry, bytes: $0)) }
    }

    /// When it had arrived whole, by the simulator's clock.
    public var unixMilliseconds: Int64 { entry.unixMilliseconds }
    /// When the answer was sent; nil when it was not, or not yet when this was read.
    public var answeredUnixMilliseconds: Int64? {
        entry.answeredUnixMilliseconds == 0 ? nil : entry.answeredUnixMilliseconds
    }
    /// What was spoken to.
    public var service: Service { entry.service }
    /// Counts from 1, in the order in which connections were accepted.
    public var connection: Int { entry.connection }
    public var stream: Int32 { entry.stream }
    /// Of `apns-id`, or of `apns-request-id`; nil when the request had none, or not a UUID.
    public var apnsID: UUIDValue? { entry.id }
    /// Its id came before.
    public var isDuplicate: Bool { entry.isDuplicate }
    /// Bytes of the body as sent, also those that were not kept.
    public var payloadByteCount: Int { entry.payloadByteCount }
    /// What it was or is to be answered with; nil when a fault leaves it without answer.
    public var status: Int? { entry.status == 0 ? nil : Int(entry.status) }
    /// Whether its stream was reset with PROTOCOL_ERROR, because it broke the rules of HTTP (RFC 9113, 8.1.1).
    public var isMalformed: Bool { entry.isMalformed }
    /// The name of the header that made it so; nil when no single one did.
    public var malformedField: String? { text { $0.malformedField } }
    /// Of the answer's body.
    public var reason: Reason? { withView { $0.reason.isEmpty ? nil : Reason($0.reason) } }
    /// What exactly is wrong with it, where the reason can mean several things and the rules decided.
    public var detail: RefusalDetail? { entry.detail }
    /// The id of the fault that struck it.
    public var faultID: String? { text { $0.faultID.isEmpty ? nil : $0.faultID } }

    /// All headers in the order of the wire; of `authorization` all but the signature.
    public var headers: [LoggedHeader] {
        withView { view in
            view.headers.map {
                LoggedHeader(
                    name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self),
                    representation: $0.representation)
            }
        }
    }

    /// The first header of this name.
    public subscript(name: StaticString) -> String? { text { $0[name] } }

    /// The device token as it was sent; nil when the request was for no device.
    public var deviceToken: String? { text { $0.deviceToken } }

    /// The device token's first digits and its length.
    public var shortDeviceToken: String? { withView { $0.deviceToken.map { DeviceToken.shortened($0) } } }

    /// `apns-topic`; for broadcasts and channels, the bundle ID in the path.
    public var topic: String? { text { $0.topic } }

    /// The body, as far as it was kept: no payload that is allowed is longer.
    public var payload: [UInt8] { withView { Array($0.payload) } }

    /// Of the body's bytes as sent; nil when it was not kept whole.
    public var payloadHash: SHA256Value? { withView { $0.isPayloadWhole ? SHA256Value(of: $0.payload) : nil } }

    private func text(_ part: (RequestView) -> UnsafeRawBufferPointer?) -> String? {
        withView { view in part(view).map { String(decoding: $0, as: UTF8.self) } }
    }
}

/// A header as it came.
public struct LoggedHeader: Sendable, Hashable {
    public var name: String
    public var value: String
    public var representation: HeaderRepresentation
}
