import APNSProtocol
import Crypto
import EventLoop
import Telemetry

/// Pushes that wait for a provider token, and pushes whose token was refused.
extension APNSPool {
    /// Applies a reply to ``TokenSupply/requestNewer``, or a scheduled new token. Some pushes wait for a token, and
    /// others had their token refused. With a new token, the pool sends these pushes as soon as streams are free.
    /// Otherwise, the pool completes them.
    public func apply(_ update: ProviderTokenUpdate) {
        loop.assertOnLoop()
        tokens?.apply(update)
        guard case .newest = update else {
            endTokenless()
            return finishRefused()
        }
        let again = refused
        refused = []
        for one in again { resend(one.push, insteadOfToken: one.tokenGeneration) }
        for push in removeTokenless() { wait(push) }
        sendWaiting()
    }

    /// Delays a push while the newest token is too old, for example after the machine was suspended, and requests a
    /// new token. Completes the push instead if the pool signs its own tokens, or if too many pushes wait.
    func waitForToken(_ push: Push) {
        guard tokens?.requestNewer() == true else {
            logMissingToken()
            return end(push, .notSent(.noToken))
        }
        guard tokenless.count < configuration.waitingMax else { return end(push, .notSent(.overloaded)) }
        tokenless.append(push)
        guard tokenTimer == nil else { return }
        tokenTimer = loop.schedule(after: .seconds(configuration.tokenWaitSecondsMax)) { [self] in
            tokenTimer = nil
            endTokenless()
        }
    }

    func removeTokenless() -> [Push] {
        if let tokenTimer { loop.cancel(tokenTimer) }
        tokenTimer = nil
        defer { tokenless = [] }
        return tokenless
    }

    private func endTokenless() {
        let pushes = removeTokenless()
        if !pushes.isEmpty { logMissingToken() }
        for push in pushes { endUnsent(push, .noToken) }
    }

    /// Logs that no token is usable. Logs again only after a token was usable in between.
    private func logMissingToken() {
        guard !isTokenMissing, let key = configuration.credential.key else { return }
        isTokenMissing = true
        log.error(
            .tokenMissing,
            [
                .apnsKeyID: .string(key.keyID), .apnsTeamID: .string(key.teamID),
                .error: .string(tokens?.error?.message ?? "newest token too old, no new token available"),
            ])
    }

    /// Drains the connections that send a token of at most this generation, since APNs would refuse their pushes, too.
    func drainConnections(sendingTokenUpTo generation: Int) {
        for connection in connections where connection?.sends(tokenUpTo: generation) == true { connection?.drain() }
    }

    func finishRefused() {
        let refused = refused
        self.refused = []
        for one in refused { refuse(one.push, one.answer, one.tokenGeneration) }
    }
}
