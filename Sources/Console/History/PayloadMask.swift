import APNSProtocol
import ControlProtocol
import Delivery
import JSON

/// The form of a dead letter's sample for a role. Device tokens are shortened for every role. For the role `view`, texts
/// are masked, except headers of workers and the text at which the error occurred. Users are masked even there.
struct PayloadMask {
    static let mask = "…"
    /// Runs of at least this number of hexadecimal digits count as device tokens, also in names of members, because a
    /// producer may have used a wrong member.
    private static let tokenDigitsMin = 16
    /// The start of the names of headers that workers set.
    private static let workerHeaders = "push-"
    private static let userHeaders = [MessageHeaderName.user, MessageHeaderName.otherOwners]
    /// The first members of the pointers to users, in requests and commands.
    private static let userMembers: [[Substring]] = [["user"], ["users"], ["data", "user"], ["data", "users"]]

    let role: OperatorRole
    /// The JSON pointer at which the error occurred.
    let path: String?

    private var masks: Bool { role == .view }

    func header(_ header: JournalSample.Header) -> String {
        if masks {
            let isShown = header.name.hasPrefix(Self.workerHeaders) && !Self.userHeaders.contains(header.name)
            guard isShown else { return Self.mask }
        }
        return Self.shortened(header.value)
    }

    /// Returns the body; nil if the role may not see it, because it is no JSON whose texts could be masked.
    func body(_ body: [UInt8]) -> String? {
        guard let root = try? JSONDocument(body).root else {
            return masks ? nil : Self.shortened(String(decoding: body, as: UTF8.self))
        }
        var json = JSONWriter()
        write(root, "", to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func write(_ value: JSONValue, _ pointer: String, to json: inout JSONWriter) {
        switch value.kind {
        case .object:
            json.beginObject()
            for (name, member) in value.members {
                let name = name.string ?? ""
                json.key(Self.shortened(name))
                write(member, pointer + "/" + Self.escaped(name), to: &json)
            }
            json.endObject()
        case .array:
            json.beginArray()
            for (index, element) in value.elements.enumerated() { write(element, "\(pointer)/\(index)", to: &json) }
            json.endArray()
        case .string:
            let text = value.string ?? ""
            if pointer == "/device_token" || pointer == "/data/device_token" {
                json.string(DeviceToken.shortened(text.utf8))
            } else {
                json.string(isMasked(pointer) ? Self.mask : Self.shortened(text))
            }
        case .number: json.raw(value.sourceBytes)
        case .boolean: json.bool(value.bool ?? false)
        case .null: json.null()
        }
    }

    private func isMasked(_ pointer: String) -> Bool {
        guard masks else { return false }
        let members = pointer.split(separator: "/")
        return pointer != path || Self.userMembers.contains { members.starts(with: $0) }
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    private static func shortened(_ text: String) -> String {
        String(decoding: DeviceToken.shortened(in: Array(text.utf8), digitsMin: tokenDigitsMin), as: UTF8.self)
    }
}
