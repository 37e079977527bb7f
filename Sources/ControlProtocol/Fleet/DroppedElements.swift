import JSON

/// The number of elements that a message omits because it would be too large.
package struct DroppedElements: Sendable, Hashable {
    /// Maximum number of shortened lists of one message.
    static let listsMax = 16
    /// Maximum size of the JSON for all shortened lists of one message.
    static let bytesMax = 64 * listsMax

    /// The name of the list in the message.
    package var list: String
    package var count: Int

    static let codec = ObjectCodec(
        "an omission", from: Self(list: "-", count: 0), ignoresUnknown: true,
        [.required("list", \.list, .printable(bytesMax: 64)), .required("count", \.count, .int(0...Int.max))])
}
