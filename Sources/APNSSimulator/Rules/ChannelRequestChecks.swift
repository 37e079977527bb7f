import APNSProtocol

/// What broadcasts and channel management have in common.
enum ChannelRequestChecks {
    /// Whichever id the request has must be a UUID: `apns-request-id`, or `apns-id`, which one of Apple's samples has.
    static func checkID(of request: Request, _ options: RuleOptions) throws(Refusal) {
        for field in [RequestField.apnsRequestID, .apnsID] {
            if let id = request[field], !APNSRequestID.isWellFormed(id) || !HeaderForm.isID(id, options.idCase) {
                throw Refusal(reason: .badMessageID)
            }
        }
    }

    /// What is said of a channel that the app has not in this environment.
    static func unknownChannel(
        id: String, _ bundleID: String, _ environment: APNSEnvironment, in state: SimulatorState
    ) -> Refusal {
        let others = APNSEnvironment.allCases.filter { $0 != environment }
        if others.contains(where: { state.channel(id: id, bundleID: bundleID, environment: $0) != nil }) {
            return Refusal(reason: state.rules.foreignChannelReason, detail: .channelOfOtherEnvironment)
        }
        // Looked for only where it matters: it may be among ten thousands.
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

    /// Apple spells the one push type of channels in three ways.
    static func isLiveActivity(_ word: UnsafeRawBufferPointer) -> Bool { HeaderForm.isWord(word, "LiveActivity") }
}

extension ConnectionMemory {
    /// Whether a sender may do anything with an app's channels.
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
