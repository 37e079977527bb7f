import APNSProtocol
import EventLoop

/// What APNs answers a device push (Apple, "Sending notification requests to APNs" and "Handling notification responses
/// from APNs"). Pure: the request, what is known of the world and of the connection, and the time go in.
struct DevicePushRules {
    private let payloadForm = PayloadForm()

    /// The answer, and whether it was given to the holder of a valid provider token.
    func answer(
        to request: Request, on connection: inout ConnectionMemory, rates: inout DeviceRateLimit, state: SimulatorState,
        now: Now
    ) -> (answer: Answer, isAuthenticated: Bool) {
        switch outcome(of: request, on: &connection, rates: &rates, state: state, now: now) {
        case .success(let answer): (answer, true)
        case .failure(let refusal): (.refused(refusal.reason), refusal.isAuthenticated)
        }
    }

    private struct Refusal: Error {
        var reason: Reason
        var isAuthenticated = false
    }

    private func outcome(
        of request: Request, on connection: inout ConnectionMemory, rates: inout DeviceRateLimit, state: SimulatorState,
        now: Now
    ) -> Result<Answer, Refusal> {
        do throws(Refusal) {
            return .success(try check(request, on: &connection, rates: &rates, state: state, now: now))
        } catch {
            return .failure(error)
        }
    }

    private func check(
        _ request: Request, on connection: inout ConnectionMemory, rates: inout DeviceRateLimit, state: SimulatorState,
        now: Now
    ) throws(Refusal) -> Answer {
        var keyID: String?
        if state.rules.order == .authenticationFirst {
            try checkMethodAndPath(request)
            keyID = try authenticate(request, on: &connection, state: state, now: now)
        }
        let pushType = try checkHeaders(of: request, state.rules)
        try checkMethodAndPath(request)
        let token = try deviceToken(of: request)
        if state.rules.order == .headersFirst {
            keyID = try authenticate(request, on: &connection, state: state, now: now)
        }
        do throws(Refusal) {
            try checkPayload(of: request, pushType: pushType, state.rules)
            let bundleID = try bundleID(
                of: request, pushType: pushType, keyID: keyID, on: &connection, state: state)
            if let requestsMax = state.rules.requestsPerDeviceMax,
                !rates.admits(DeviceTable.hash(token), at: now, requestsMax: requestsMax)
            {
                throw Refusal(reason: .tooManyRequests)
            }
            return try answer(
                state.condition(ofToken: token, bundleID: bundleID, in: connection.service.environment))
        } catch {
            throw Refusal(reason: error.reason, isAuthenticated: true)
        }
    }

    /// The form of each header by itself; the push type that they name.
    private func checkHeaders(of request: Request, _ options: RuleOptions) throws(Refusal) -> PushType? {
        if request.hasDuplicateHeaders { throw Refusal(reason: .duplicateHeaders) }
        if request[.apnsID] != nil, request.id == nil { throw Refusal(reason: .badMessageID) }
        guard let topic = request[.apnsTopic] else { throw Refusal(reason: .missingTopic) }
        guard Self.isTopic(topic) else { throw Refusal(reason: .badTopic) }
        if let id = request[.apnsCollapseID], id.count > APNSLimits.collapseIDBytesMax {
            throw Refusal(reason: .badCollapseID)
        }
        if let expiration = request[.apnsExpiration], !Self.isUnixTime(expiration) {
            throw Refusal(reason: .badExpirationDate)
        }
        var pushType: PushType?
        if let word = request[.apnsPushType] {
            guard let known = PushType(word) else { throw Refusal(reason: .invalidPushType) }
            pushType = known
        }
        if let word = request[.apnsPriority] {
            guard let priority = Priority(word) else { throw Refusal(reason: .badPriority) }
            if pushType == .background, priority != .considerate, options.refusesBackgroundAtOtherPriority {
                throw Refusal(reason: .badPriority)
            }
        }
        return pushType
    }

    /// A bundle ID with or without suffix: letters, digits, hyphens and full stops.
    private static func isTopic(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.count <= 255
            && bytes.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Seconds since 1970 as a plain decimal number.
    private static func isUnixTime(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.count <= 18
            && bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private func checkMethodAndPath(_ request: Request) throws(Refusal) {
        guard let method = request[.method], method.equals("POST") else { throw Refusal(reason: .methodNotAllowed) }
        guard let path = request[.path], path.count >= RequestPath.devicePrefix.utf8CodeUnitCount,
            UnsafeRawBufferPointer(rebasing: path[..<RequestPath.devicePrefix.utf8CodeUnitCount])
                .equals(RequestPath.devicePrefix)
        else { throw Refusal(reason: .badPath) }
    }

    private func deviceToken(of request: Request) throws(Refusal) -> UnsafeRawBufferPointer {
        let token = request.deviceToken
        guard !token.isEmpty else { throw Refusal(reason: .missingDeviceToken) }
        guard DeviceToken.isWellFormed(token) else { throw Refusal(reason: .badDeviceToken) }
        return token
    }

    /// The id of the key that signed the token; nil when none is asked for.
    private func authenticate(
        _ request: Request, on connection: inout ConnectionMemory, state: SimulatorState, now: Now
    ) throws(Refusal) -> String? {
        guard let authorization = request[.authorization] else {
            if state.rules.servesWithoutToken { return nil }
            throw Refusal(reason: .missingProviderToken)
        }
        switch connection.verify(authorization, state: state, now: now, options: state.rules) {
        case .success(let keyID): return keyID
        case .failure(let refusal): throw Refusal(reason: refusal.reason)
        }
    }

    private func checkPayload(of request: Request, pushType: PushType?, _ options: RuleOptions) throws(Refusal) {
        let count = request.bodyByteCount
        guard count > 0 else { throw Refusal(reason: .payloadEmpty) }
        guard count <= pushType?.payloadBytesMax ?? APNSLimits.payloadBytesMax else {
            throw Refusal(reason: .payloadTooLarge)
        }
        guard options.refusesOtherThanJSONObjects else { return }
        if request[.contentEncoding] != nil || !payloadForm.isJSONObject(request.bodyBytes) {
            throw Refusal(reason: .payloadEmpty)
        }
    }

    private func bundleID(
        of request: Request, pushType: PushType?, keyID: String?, on connection: inout ConnectionMemory,
        state: SimulatorState
    ) throws(Refusal) -> String {
        guard let topic = request[.apnsTopic] else { throw Refusal(reason: .missingTopic) }
        guard let bundleID = connection.bundleID(topic: topic, pushType: pushType, keyID: keyID, state: state) else {
            throw Refusal(reason: .topicDisallowed)
        }
        return bundleID
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
