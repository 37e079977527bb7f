import APNSProtocol
import EventLoop

/// The rules for device pushes (Apple, "Sending notification requests to APNs" and "Handling notification responses
/// from APNs"). A decision depends only on its arguments: the request, the connection, the rates, the state and the
/// time.
struct DevicePushRules {
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
        try checkMethodAndPath(of: request)
        var sender = Sender.anyone
        if state.rules.order == .authenticationFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        let topic = request[.apnsTopic] ?? connection.presented?.defaultTopic
        let pushType = try checkHeaders(of: request, topic: topic, state.rules, now)
        let token = try deviceToken(of: request)
        if state.rules.order == .headersFirst {
            sender = try connection.sender(of: request, state: state, now: now)
        }
        do throws(Refusal) {
            try checkPayload(of: request, pushType: pushType, state.rules)
            if pushType == .location, sender == .certificate {
                throw Refusal(reason: state.rules.locationByCertificateReason, detail: .locationByCertificate)
            }
            guard let topic else { throw Refusal(reason: .missingTopic) }
            let bundleID = try connection.bundleID(topic: topic, pushType: pushType, sender: sender, state: state)
            if let requestsMax = state.rules.requestsPerDeviceMax,
                !rates.admits(deviceToken: token, at: now, requestsMax: requestsMax)
            {
                throw Refusal(reason: .tooManyRequests)
            }
            return try answer(
                state.condition(ofToken: token, bundleID: bundleID, in: connection.service.environment))
        } catch {
            throw error.ofAuthenticated
        }
    }

    /// Checks the headers except `authorization`. Returns the push type; nil if the request has no push type.
    private func checkHeaders(
        of request: Request, topic: UnsafeRawBufferPointer?, _ options: RuleOptions, _ now: Now
    ) throws(Refusal) -> PushType? {
        if request.hasDuplicateHeaders(options) { throw Refusal(reason: .duplicateHeaders) }
        if let id = request[.apnsID], request.id == nil || !HeaderForm.isID(id, options.idCase) {
            throw Refusal(reason: .badMessageID)
        }
        guard let topic else { throw Refusal(reason: .missingTopic) }
        guard HeaderForm.isTopic(topic) else { throw Refusal(reason: .badTopic) }
        if let id = request[.apnsCollapseID], id.count > APNSLimits.collapseIDBytesMax {
            throw Refusal(reason: .badCollapseID)
        }
        if let expiration = request[.apnsExpiration] { try HeaderForm.checkExpiration(expiration, options, now) }
        var pushType: PushType?
        if let word = request[.apnsPushType] {
            guard let known = HeaderForm.pushType(word, options.pushTypeCase) else {
                throw Refusal(reason: .invalidPushType)
            }
            pushType = known
        }
        if let word = request[.apnsPriority] {
            guard let priority = Priority(word) else { throw Refusal(reason: .badPriority) }
            if let reason = Self.refusal(of: priority, pushType, options) {
                throw Refusal(reason: reason, detail: .priorityOfType)
            }
        }
        return pushType
    }

    /// Returns the reason for the refusal of a valid priority; nil if `options` allow it for the push type.
    private static func refusal(of priority: Priority, _ pushType: PushType?, _ options: RuleOptions) -> Reason? {
        switch (priority, pushType) {
        case (.immediate, .background): options.backgroundImmediateReason
        case (.powerFirst, .background), (.powerFirst, .liveactivity), (.powerFirst, .voip): options.powerFirstReason
        default: nil
        }
    }

    private func checkMethodAndPath(of request: Request) throws(Refusal) {
        guard let method = request[.method], method.equals("POST") else { throw Refusal(reason: .methodNotAllowed) }
        guard let path = request[.path], path.starts(with: RequestPath.devicePrefix) else {
            throw Refusal(reason: .badPath)
        }
    }

    private func deviceToken(of request: Request) throws(Refusal) -> UnsafeRawBufferPointer {
        let token = request.deviceToken
        guard !token.isEmpty else { throw Refusal(reason: .missingDeviceToken) }
        guard DeviceToken.isWellFormed(token) else { throw Refusal(reason: .badDeviceToken) }
        return token
    }

    private func checkPayload(of request: Request, pushType: PushType?, _ options: RuleOptions) throws(Refusal) {
        let count = request.bodyByteCount
        guard count > 0 else { throw Refusal(reason: .payloadEmpty) }
        guard count <= Self.payloadBytesMax(of: pushType, options) else { throw Refusal(reason: .payloadTooLarge) }
        if let reason = options.malformedPayloadReason, let fault = payloadForm.fault(of: request) {
            throw Refusal(reason: reason, detail: fault)
        }
        if pushType == .background, let reason = options.backgroundContentReason,
            payloadForm.isVisible(request.bodyBytes)
        {
            throw Refusal(reason: reason, detail: .payloadVisible)
        }
    }

    private static func payloadBytesMax(of pushType: PushType?, _ options: RuleOptions) -> Int {
        switch pushType {
        case .mdm, .widgets, .controls: options.otherPayloadBytesMax
        case .some(let type): type.payloadBytesMax
        case nil: APNSLimits.payloadBytesMax
        }
    }

    private func answer(_ condition: DeviceCondition) throws(Refusal) -> Answer {
        switch condition {
        case .active: .accepted
        case .unregistered(let since): .gone(.unregistered, timestampMilliseconds: since)
        case .expired(let since): .gone(.expiredToken, timestampMilliseconds: since)
        case .bad: throw Refusal(reason: .badDeviceToken)
        case .notForTopic: throw Refusal(reason: .deviceTokenNotForTopic)
        }
    }
}
