import APNSProtocol

/// The checks that broadcasts and channel management share.
enum ChannelRequestChecks {
    /// Checks that `apns-request-id` and `apns-id`, if present, are UUIDs in the required letter case. One of Apple's
    /// samples uses `apns-id`.
    static func checkID(of request: Request, _ options: RuleOptions) throws(Refusal) {
        for field in [RequestField.apnsRequestID, .apnsID] {
            if let id = request[field], !APNSRequestID.isWellFormed(id) || !HeaderForm.isID(id, options.idCase) {
                throw Refusal(reason: .badMessageID)
            }
        }
    }

    /// Returns the refusal for a channel that the app does not have in this environment.
    static func unknownChannel(
        id: String, _ bundleID: String, _ environment: APNSEnvironment, in state: SimulatorState
    ) -> Refusal {
        let others = APNSEnvironment.allCases.filter { $0 != environment }
        if others.contains(where: { state.channel(id: id, bundleID: bundleID, environment: $0) != nil }) {
            return Refusal(reason: state.rules.foreignChannelReason, detail: .channelOfOtherEnvironment)
        }
        // The search covers the channels of all apps, so it runs only if its result matters.
        guard state.rules.foreignChannelReason != .channelNotRegistered, state.hasChannel(id: id) else {
            return Refusal(reason: .channelNotRegistered, detail: .channelUnknown)
        }
        return Refusal(reason: state.rules.foreignChannelReason, detail: .channelOfOtherApp)
    }

    static func channelID(of request: Request) throws(Refusal) -> String {
        guard let id = request[.apnsChannelID] else { throw Refusal(reason: .missingChannelID) }
        guard Channel.isWellFormedID(id) else {
            let isLong = id.count > Channel.idBytesMax
            throw Refusal(reason: .badChannelID, detail: isLong ? .channelLength : .channelEncoding)
        }
        return String(decoding: id, as: UTF8.self)
    }

    /// Returns whether a word is the push type of channels. Apple's documentation spells the type in three ways.
    static func isLiveActivity(_ word: UnsafeRawBufferPointer) -> Bool { HeaderForm.isWord(word, "LiveActivity") }
}

extension ConnectionMemory {
    /// Checks that a sender may use an app's channels.
    func checkChannelAccess(of sender: Sender, bundleID: String, state: SimulatorState) throws(Refusal) {
        let isTopic = Array(bundleID.utf8).withUnsafeBytes(TopicSuffix.ends)
        guard !isTopic || state.app(bundleID: bundleID) != nil else {
            throw Refusal(reason: .topicDisallowed, detail: .topicSuffix)
        }
        if let obstacle = obstacle(to: sender, bundleID: bundleID, state: state) {
            throw Refusal(reason: .topicMismatch, detail: obstacle)
        }
        guard state.allowsBroadcasts(bundleID: bundleID) else { throw Refusal(reason: .featureNotEnabled) }
    }
}
