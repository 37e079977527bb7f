import AdminHTTP
import Configuration
import ControlProtocol
import Crypto
import EventLoop
import JSON

/// The logins and sessions of operators. Loop-bound.
final class LoginDesk {
    /// Failed logins a second that are answered as such. Codes and tokens have 256 bits, so the limit only protects the
    /// console and the audit.
    private static let failuresPerSecond = 1
    private static let failuresBurst = 10
    private static let bodyDepthMax = 4

    private let loop: EventLoop
    private let configuration: ConsoleConfiguration
    private let tokens: TokenReader
    /// The user ID of the proxy; nil without a proxy.
    private let proxyUserID: UInt32?
    private let audit: AuditLog
    private var codes = LoginCodes()
    private var sessions: SessionTable
    private var failures = RequestPace(perSecond: LoginDesk.failuresPerSecond, burst: LoginDesk.failuresBurst)

    init(
        _ configuration: ConsoleConfiguration, proxyUserID: UInt32?, _ audit: AuditLog, on loop: EventLoop,
        limits: SessionTable.Limits
    ) {
        (self.configuration, self.proxyUserID, self.audit, self.loop) = (configuration, proxyUserID, audit, loop)
        tokens = TokenReader(path: configuration.tokensFile)
        sessions = SessionTable(limits)
    }

    private var now: MonotonicTime { loop.now.monotonic }

    var limits: SessionTable.Limits { sessions.limits }
    var isInUse: Bool { sessions.isInUse(at: now) }

    /// Returns a new login code.
    func makeCode(_ name: String, _ role: OperatorRole) throws(CryptoError) -> String {
        let code = try Secret.make()
        let login = Operator(name: name, role: min(role, configuration.roleMax), proof: .code)
        if let hash = Secret.hash(code) { codes.add(hash: hash, login, at: now) }
        return code
    }

    // MARK: Logins

    /// Logs in with the code or token of the body, or with the headers of the proxy.
    func logIn(_ request: AdminRequest) throws(AdminError) -> (secret: String, session: SessionTable.Session) {
        let headers = try proxyHeaders(of: request)
        let (login, secondsMax) = try login(request, headers)
        let secret: String
        do throws(CryptoError) {
            secret = try Secret.make()
        } catch {
            throw AdminError(503, error.message, code: "random")
        }
        guard let hash = Secret.hash(secret) else { throw AdminError(503, "cannot make a session", code: "random") }
        let session = sessions.add(hash: hash, login, secondsMax: secondsMax, at: now)
        switch login.proof {
        case .code: audit.loggedIn(login, by: "a code")
        case .token: audit.loggedIn(login, by: "a token")
        case .proxy: audit.loggedIn(login, by: "the proxy")
        }
        return (secret, session)
    }

    private func login(
        _ request: AdminRequest, _ headers: ProxyHeaders?
    ) throws(AdminError) -> (login: Operator, secondsMax: Int?) {
        let limits = JSONLimits(bytesMax: request.body.count, depthMax: Self.bodyDepthMax)
        guard let root = try? JSONDocument(request.body, limits: limits).root, root.kind == .object else {
            throw AdminError(400, "the body must be a JSON object", code: "invalid")
        }
        switch (root["code"]?.string, root["token"]?.string) {
        case (let code?, nil):
            if let login = Secret.hash(code).flatMap({ codes.redeem(hash: $0, at: now) }) { return (login, nil) }
            throw failed("a wrong code")
        case (nil, let token?): return try login(token: token)
        case (nil, nil):
            guard let headers, let proxy = configuration.proxy else {
                throw AdminError(400, "the body must contain code or token", code: "invalid")
            }
            guard let role = headers.role(in: proxy.groups) else {
                audit.refused("login without a group that has a role", by: headers.user)
                throw AdminError(
                    403, "none of your groups has a role in this console", code: "group",
                    remedy: "add a group to console.proxy.groups")
            }
            return (Operator(name: headers.user, role: min(role, configuration.roleMax), proof: .proxy), nil)
        case (.some, .some): throw AdminError(400, "the body must contain either code or token", code: "invalid")
        }
    }

    private func login(token: String) throws(AdminError) -> (login: Operator, secondsMax: Int?) {
        let unixNow = loop.now.unixMilliseconds
        guard let hash = Secret.hash(token) else { throw failed("a wrong token") }
        guard let found = try readTokens().token(hash: hash, at: unixNow) else { throw failed("a wrong token") }
        let login = Operator(
            name: found.name, role: min(found.role, configuration.roleMax), proof: .token(hash: hash))
        return (login, found.expires.map { Int(clamping: ($0 - unixNow) / 1000) })
    }

    private func readTokens() throws(AdminError) -> TokenFile {
        do throws(TokenReader.Failure) {
            return try tokens.read(at: loop.now.unixMilliseconds)
        } catch {
            throw AdminError(503, error.sentence, code: "tokens")
        }
    }

    private func failed(_ what: String) -> AdminError {
        audit.refused("login with \(what)")
        return failures.admits(at: now) ? ConsoleErrors.loginFailed : ConsoleErrors.tooManyLogins
    }

    // MARK: Sessions

    /// The header of requests that a page sends without an operator. They keep no session alive.
    private static let unattendedHeader = "martlet-unattended"

    /// Returns the session of a request, and counts the request.
    ///
    /// - Parameter isWaiting: whether the request only waits for changes, which keeps no session alive.
    func session(of request: AdminRequest, isWaiting: Bool = false) throws(AdminError) -> SessionTable.Session {
        let headers = try proxyHeaders(of: request)
        guard let hash = Self.hash(of: request) else { throw ConsoleErrors.login }
        let isUnattended = !request.headers(Self.unattendedHeader).isEmpty
        switch sessions.use(hash: hash, isWaiting: isWaiting || isUnattended, at: now) {
        case .unknown: throw ConsoleErrors.login
        case .tooFast: throw ConsoleErrors.tooFast
        case .session(let session):
            // Another operator of the proxy may have the secret of the session.
            guard session.login.proof != .proxy || headers?.user == session.login.name else {
                throw ConsoleErrors.login
            }
            return session
        }
    }

    private static func hash(of request: AdminRequest) -> String? {
        let values = request.headers("authorization")
        let words = values.first.map { $0.split(separator: " ", omittingEmptySubsequences: false) } ?? []
        guard values.count == 1, words.count == 2, words[0] == "Bearer" else { return nil }
        return Secret.hash(String(words[1]))
    }

    /// Checks that the proof of a session still grants its role, and ends the session otherwise. An action calls this
    /// function, because a token or a group may have lost its role since the login.
    ///
    /// - Parameter what: the name of the request for the audit.
    func recheck(
        _ session: SessionTable.Session, _ request: AdminRequest, _ what: String
    ) throws(AdminError) {
        let role = try currentRole(session, request, what)
        guard role >= session.login.role else {
            throw ended(session, "\(what): the role is now \(role.rawValue)")
        }
    }

    /// Returns the role that the proof of a session grants now, at most the role of the login. Ends the session if the
    /// proof grants none.
    ///
    /// - Parameter what: the name of the request for the audit.
    func currentRole(
        _ session: SessionTable.Session, _ request: AdminRequest, _ what: String
    ) throws(AdminError) -> OperatorRole {
        let role: OperatorRole? =
            switch session.login.proof {
            case .code: session.login.role
            case .token(let hash): try readTokens().token(hash: hash, at: loop.now.unixMilliseconds)?.role
            case .proxy: try proxyHeaders(of: request)?.role(in: configuration.proxy?.groups ?? [:])
            }
        guard let role else {
            let proof =
                session.login.proof == .proxy ? "no group has a role now" : "the token was withdrawn or has expired"
            throw ended(session, "\(what): \(proof)")
        }
        return min(role, session.login.role)
    }

    /// Ends a session whose proof has lost its role. Returns the refusal of the request.
    private func ended(_ session: SessionTable.Session, _ what: String) -> AdminError {
        audit.refused(what, by: session.login.name)
        end(session)
        return ConsoleErrors.login
    }

    func end(_ session: SessionTable.Session) { sessions.remove(hash: session.hash) }

    /// Reads the headers of the proxy.
    ///
    /// - Throws: if a client other than the proxy has set the headers, or if they are ambiguous. Records the refusal in
    ///   the audit.
    private func proxyHeaders(of request: AdminRequest) throws(AdminError) -> ProxyHeaders? {
        let isFromProxy = proxyUserID != nil && request.peerUserID == proxyUserID
        switch ProxyHeaders.read(request.headers, isFromProxy: isFromProxy) {
        case .absent: return nil
        case .present(let headers): return headers
        case .forged(let sentence):
            audit.refused("login headers: \(sentence)")
            throw AdminError(400, sentence, code: "proxy_headers")
        }
    }
}
