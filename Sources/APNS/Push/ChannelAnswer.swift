import JSON

/// The contents of a successful channel management answer.
public final class ChannelAnswer: Sendable, Hashable {
    /// The ID of the created channel, from `apns-channel-id`; nil if the answer has no such header, or the ID is too
    /// long.
    public let channelID: String?
    /// The storage policy of the channel that was read; nil if the body contains no known policy.
    public let storagePolicy: ChannelRequest.StoragePolicy?
    /// The IDs of all channels; empty for an empty body, nil if the body has no member `channels`.
    public let channels: [String]?

    /// Creates an answer from the header value and the body.
    ///
    /// - Parameter body: may be empty, as was observed for a list without channels.
    init(channelID: String?, body: [UInt8]) {
        self.channelID = channelID
        let limits = JSONLimits(bytesMax: ChannelRequest.answerBytesMax, depthMax: 8)
        let root = (try? JSONDocument(body, limits: limits))?.root
        storagePolicy = root?["message-storage-policy"]?.int.flatMap { ChannelRequest.StoragePolicy(rawValue: $0) }
        channels = body.isEmpty ? [] : root?["channels"].map { $0.elements.compactMap(\.string) }
    }

    public static func == (a: ChannelAnswer, b: ChannelAnswer) -> Bool {
        a.channelID == b.channelID && a.storagePolicy == b.storagePolicy && a.channels == b.channels
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(channelID)
        hasher.combine(storagePolicy)
        hasher.combine(channels)
    }
}
