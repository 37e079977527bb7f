import JSON

/// The format of a message of fleet control or the journal. The message is a JSON object whose member `type` names the
/// format and its version. Readers ignore unknown members. A member with a new meaning requires a new type.
struct FleetFormat<Message: Sendable>: Sendable {
    /// Maximum nesting of a message, with room for members that a later version adds.
    private static var depthMax: Int { 32 }

    /// The name of the format with its version, such as `push.command.v1`.
    let type: String
    /// The name of a message in errors, such as `a command`.
    let name: String
    let bytesMax: Int
    let codec: ObjectCodec<Message>

    /// Reads a message.
    ///
    /// - Throws: an error that states why the message is invalid. The error contains no part of the text.
    func read(_ bytes: [UInt8]) throws(InputError) -> Message {
        guard bytes.count <= bytesMax else { throw InputError("\(name) must have at most \(bytesMax) bytes") }
        let root = try root(of: bytes)
        guard root.kind == .object else { throw InputError("\(name) must be an object") }
        guard root["type"]?.string == type else {
            throw InputError("type must be \(type)", node: root["type"]?.nodeIndex)
        }
        return try codec.read(root)
    }

    private func root(of bytes: [UInt8]) throws(InputError) -> JSONValue {
        do throws(JSONError) {
            return try JSONDocument(bytes, limits: JSONLimits(bytesMax: bytesMax, depthMax: Self.depthMax)).root
        } catch {
            throw InputError("\(name) is not JSON, at \(error)")
        }
    }

    func write(_ message: Message) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", type)
        codec.writeMembers(message, to: &json)
        json.endObject()
        return json.bytes
    }
}
