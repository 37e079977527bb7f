import JSON

/// What an answer of channel management holds beside its status.
public final class ChannelAnswer: Sendable, Hashable {
    /// `apns-channel-id`: of the channel that was made.
    public let channelID: String?
    /// Of the channel that was read.
    public let storagePolicy: ChannelRequest.StoragePolicy?
    /// The IDs of all channels, where they were asked for.
    public let channels: [String]?

    /// - Parameter body: that of a list without channels was seen empty.
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
