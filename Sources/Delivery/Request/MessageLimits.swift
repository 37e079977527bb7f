import APNS
import APNSProtocol
public import JSON

/// The values of a request that are checked in addition to the schema. JSON Schema cannot express lengths in bytes. The
/// form of the device token is checked again.
public struct MessageLimits {
    private let deviceToken: ArraySlice<UInt8>?
    private let collapseIDBytes: Int
    private let payloadBytes: Int
    private let payloadBytesMax: Int

    init(_ push: APNSRequest) {
        switch push.target {
        case .device(let token): (deviceToken, payloadBytesMax) = (token, push.pushType.payloadBytesMax)
        case .channel, .channels: (deviceToken, payloadBytesMax) = (nil, APNSLimits.payloadBytesMaxBroadcast)
        }
        collapseIDBytes = push.collapseID?.count ?? 0
        payloadBytes = push.payloadRange.count
    }

    /// Reads the limited values of a push to users, which has no device yet, except for those of `AudienceLimits`.
    init(ofAudience push: APNSRequest) {
        (deviceToken, payloadBytesMax) = (nil, push.pushType.payloadBytesMax)
        collapseIDBytes = push.collapseID?.count ?? 0
        payloadBytes = push.payloadRange.count
    }

    /// Reads the limited values of a request, except for those of `AudienceLimits`.
    ///
    /// - Parameter message: A request that satisfies the schema.
    init(_ message: JSONValue) {
        deviceToken = message["device_token"]?.withUTF8 { ArraySlice($0) }
        collapseIDBytes = message["collapse_id"]?.withUTF8 { $0.count } ?? 0
        payloadBytes = message["payload"]?.sourceRange.count ?? 0
        let pushType = message["push_type"]?.withUTF8 { PushType($0) } ?? nil
        payloadBytesMax =
            message["channel_id"] == nil
            ? pushType?.payloadBytesMax ?? APNSLimits.payloadBytesMax : APNSLimits.payloadBytesMaxBroadcast
    }

    /// Returns the violation of a request that satisfies the schema; nil if the request is within the limits.
    public static func violation(of message: JSONValue) -> RequestViolation? {
        do throws(RequestViolation) {
            let members = RequestMembers(of: message, RequestMembers.names)
            try AudienceLimits.check(members, members[.pushType]?.text.flatMap { PushType($0) })
            try MessageLimits(message).check(payload: message["payload"])
            return nil
        } catch {
            return error
        }
    }

    /// Throws the first violated limit.
    ///
    /// - Parameter payload: The payload. It is evaluated only if it is too large.
    func check(payload: @autoclosure () -> JSONValue?) throws(RequestViolation) {
        if let deviceToken, !DeviceToken.isWellFormed(deviceToken) {
            throw RequestViolation(
                .limit, "device_token", path: "/device_token",
                "device_token must be an even number of hexadecimal digits, at most \(DeviceToken.hexDigitsMax).")
        }
        guard collapseIDBytes <= APNSLimits.collapseIDBytesMax else {
            throw RequestViolation(
                .limit, "collapse_id", path: "/collapse_id",
                "collapse_id has \(collapseIDBytes) bytes of UTF-8; APNs allows \(APNSLimits.collapseIDBytesMax).")
        }
        guard payloadBytes <= payloadBytesMax else {
            throw RequestViolation(
                .limit, "payload", path: "/payload",
                "The payload has \(payloadBytes) bytes; APNs allows \(payloadBytesMax)."
                    + Self.advice(payload(), bytesMax: payloadBytesMax))
        }
    }

    /// Returns a sentence with the size of the payload without escapes and whitespace, if that size is within the
    /// limit. Otherwise, returns an empty string.
    private static func advice(_ payload: JSONValue?, bytesMax: Int) -> String {
        guard let bytes = payload?.compactByteCount, bytes <= bytesMax else { return "" }
        return " Written as UTF-8, without \\u escapes or whitespace between its parts, the payload has \(bytes) bytes."
    }
}
