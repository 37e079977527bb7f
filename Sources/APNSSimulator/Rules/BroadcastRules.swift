import APNSProtocol
import EventLoop

/// The rules for broadcasts to channels (Apple, "Sending broadcast push notification requests to APNs" and "Handling
/// error responses from Apple Push Notification service").
struct BroadcastRules {
    private let payloadForm = PayloadForm()

    func decision(
        about request: Request, on connection: inout ConnectionMemory, rates: inout RateLimit,
        state: SimulatorState, now: Now
    ) -> Decision {
        do throws(Refusal) {
            let answer = try check(request, on: &connection, rates: &rates, state: state, now: now)
            return Decision(answer: answer, isAuthenticated: true)
        } catch {
            return Decision(error, state.rules)
        }
    }

    private func check(
        _ request: Request, on connection: inout ConnectionMemory, rates: inout RateLimit, state: SimulatorState,
        now: Now
    ) throws(Refusal) -> Answer {
        let bundleID = try checkPathAndMethod(of: request, state.rules)
        var sender = Sender.anyone
        if state.rules.order == .authenticationFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        let channelID = try checkHeaders(of: request, state.rules, now)
        if state.rules.order == .headersFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        do throws(Refusal) {
            try connection.checkChannelAccess(of: sender, bundleID: bundleID, state: state)
            let environment = connection.service.environment
            guard let channel = state.channel(id: channelID, bundleID: bundleID, environment: environment) else {
                throw ChannelRequestChecks.unknownChannel(id: channelID, bundleID, environment, in: state)
            }
            if channel.storagePolicy == .none, let expiration = request[.apnsExpiration], !expiration.equals("0") {
                throw Refusal(reason: .badExpirationDate, detail: .expirationOfChannel)
            }
            try checkPayload(of: request, state.rules)
            if let requestsMax = state.rules.requestsPerChannelMax,
                !rates.admits(channelID: channelID, at: now, requestsMax: requestsMax)
            {
                throw Refusal(reason: .tooManyRequests)
            }
            return .accepted
        } catch {
            throw error.ofAuthenticated
        }
    }

    /// Checks the path and the method. Returns the bundle ID in the path.
    private func checkPathAndMethod(of request: Request, _ options: RuleOptions) throws(Refusal) -> String {
        guard let path = request[.path], let bundleID = Self.bundleID(inPath: path) else {
            throw Refusal(reason: .badPath)
        }
        guard let method = request[.method], method.equals("POST") else {
            throw Refusal(reason: options.wrongMethodReason)
        }
        return bundleID
    }

    private static func bundleID(inPath path: UnsafeRawBufferPointer) -> String? {
        let prefix = RequestPath.broadcastPrefix.bytes
        guard path.starts(with: RequestPath.broadcastPrefix) else { return nil }
        let bundleID = UnsafeRawBufferPointer(rebasing: path[prefix.count...])
        return HeaderForm.isTopic(bundleID) ? String(decoding: bundleID, as: UTF8.self) : nil
    }

    /// Checks the headers except `authorization`. Returns the ID of the channel.
    private func checkHeaders(
        of request: Request, _ options: RuleOptions, _ now: Now
    ) throws(Refusal) -> String {
        if request.hasDuplicateHeaders(options) { throw Refusal(reason: .duplicateHeaders) }
        try ChannelRequestChecks.checkID(of: request, options)
        let channelID = try ChannelRequestChecks.channelID(of: request)
        guard let pushType = request[.apnsPushType] else { throw Refusal(reason: .missingPushType) }
        guard ChannelRequestChecks.isLiveActivity(pushType) else { throw Refusal(reason: .invalidPushType) }
        if let expiration = request[.apnsExpiration] {
            try HeaderForm.checkExpiration(expiration, options, now)
        } else if options.demandsBroadcastExpiration {
            throw Refusal(reason: .badExpirationDate, detail: .expirationMissing)
        }
        guard request[.apnsPriority].map({ Priority($0) != nil }) ?? !options.demandsBroadcastPriority else {
            throw Refusal(reason: .badPriority)
        }
        return channelID
    }

    private func checkPayload(of request: Request, _ options: RuleOptions) throws(Refusal) {
        let count = request.bodyByteCount
        guard count > 0 else { throw Refusal(reason: .payloadEmpty) }
        guard count <= APNSLimits.payloadBytesMaxBroadcast else { throw Refusal(reason: .payloadTooLarge) }
        // Apple's list of reasons for broadcasts and channels has a separate reason for a malformed payload.
        if options.malformedPayloadReason != nil, let fault = payloadForm.fault(of: request) {
            throw Refusal(reason: .badRequestPayload, detail: fault)
        }
    }
}
