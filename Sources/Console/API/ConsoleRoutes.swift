import AMQP
import Actions
import AdminHTTP
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import EventLoop
import History
import JSON

/// The routes of the console's API. Loop-bound.
struct ConsoleRoutes {
    let configuration: ConsoleConfiguration
    let cluster: String
    let commands: CommandAdvice
    let desk: LoginDesk
    let watch: FleetWatch
    /// The history; nil if it is off.
    let history: HistoryFeed?
    let changes: ChangeFeed
    let runner: ActionRunner
    let audit: AuditLog
    let loop: EventLoop

    var all: [AdminRoute] {
        [
            AdminRoute(.post, "/api/session", "log in") { request throws(AdminError) in try logIn(request) },
            route(.get, "/api/session", "the session") { _, session throws(AdminError) in answer(session) },
            route(.delete, "/api/session", "log out") { _, session throws(AdminError) in
                desk.end(session)
                changes.end(session: session.hash)
                return .empty
            },
            AdminRoute(
                .get, "/api/changes", query: ["after", "wait_seconds"], "the parts that have changed, when they change",
                later: { exchange throws(AdminError) in
                    let session = try desk.session(of: exchange.request, isWaiting: true)
                    let after = try Self.number(exchange.request, "after", 0...Int.max) ?? 0
                    let seconds =
                        try Self.number(exchange.request, "wait_seconds", 0...ChangeFeed.waitSecondsMax)
                        ?? ChangeFeed.waitSecondsMax
                    try changes.wait(exchange, session: session.hash, after: after, seconds: seconds)
                }),
            view("/api/fleet", "workers and pauses") { $0.fleet() },
            view("/api/causes", "the causes that hold requests") { $0.causes() },
            view("/api/queues", "the depths of queues") { $0.queues() },
            view("/api/credentials", "certificates and keys") { $0.credentials() },
            AdminRoute(.get, "/api/audit", query: ["before"], "the audit") { request throws(AdminError) in
                _ = try desk.session(of: request)
                return .json(auditPage(before: try Self.cursor(request)))
            },
        ] + actions + HistoryRoutes(feed: history, desk: desk, watch: watch, loop: loop).all
            + RevealRoutes(history, desk, watch, audit, configuration.rules, on: loop).all
    }

    // MARK: Routes

    /// Returns a route that needs a session.
    private func route(
        _ method: AdminMethod, _ path: String, _ help: String,
        _ answer: @escaping (AdminRequest, SessionTable.Session) throws(AdminError) -> AdminResponse
    ) -> AdminRoute {
        AdminRoute(method, path, help) { request throws(AdminError) in
            try answer(request, try desk.session(of: request))
        }
    }

    /// Returns a route for a part of the fleet's state.
    private func view(_ path: String, _ help: String, _ body: @escaping (FleetJSON) -> [UInt8]) -> AdminRoute {
        route(.get, path, help) { request, _ throws(AdminError) in
            watch.readQueues()
            let body = body(FleetJSON(watch: watch, history: history, now: loop.now))
            let tag = "\"\(Secret.text(Digest.sha256(body)).prefix(32))\""
            var response = AdminResponse.json(body)
            if request.headers("if-none-match").contains(tag) { response = AdminResponse.empty(304) }
            response.headers = [("ETag", tag)]
            return response
        }
    }

    private static func number(
        _ request: AdminRequest, _ name: String, _ range: ClosedRange<Int>
    ) throws(AdminError) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw AdminError(
                400, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)", code: "invalid")
        }
        return number
    }

    private static func cursor(_ request: AdminRequest) throws(AdminError) -> Int64? {
        guard let text = request.query("before") else { return nil }
        guard let cursor = Int64(text), cursor >= 0, "\(cursor)" == text else {
            throw AdminError(
                400, "before must be the value of the member `next` of an earlier response", code: "cursor")
        }
        return cursor
    }

    // MARK: Sessions

    private func logIn(_ request: AdminRequest) throws(AdminError) -> AdminResponse {
        let (secret, session) = try desk.logIn(request)
        watch.readQueues()
        var json = JSONWriter()
        json.beginObject()
        json.member("session", secret)
        json.member("name", session.login.name)
        json.member("role", session.login.role.rawValue)
        json.member("expires_in_seconds", session.secondsLeft(at: loop.now.monotonic))
        json.member("idle_seconds", desk.limits.idleSeconds)
        json.endObject()
        return .json(json.bytes, status: 201)
    }

    private func answer(_ session: SessionTable.Session) -> AdminResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("name", session.login.name)
        json.member("role", session.login.role.rawValue)
        json.member("role_max", configuration.roleMax.rawValue)
        json.member("cluster", cluster)
        json.member("version", MartletVersion.current)
        json.member("prefix", watch.names.prefix)
        json.member("history", history != nil)
        json.member("expires_in_seconds", session.secondsLeft(at: loop.now.monotonic))
        json.list("actions", OperatorAction.names(for: session.login.role)) { $0.string($1) }
        json.list("request_queues", watch.names.requestQueues) { $0.string($1) }
        json.beginObject("commands")
        for (name, command) in Self.shownCommands { json.member(name, commands.completedCommand(command)) }
        json.endObject()
        json.endObject()
        return .json(json.bytes)
    }

    /// The commands that the page shows, with their names in the API.
    private static let shownCommands: [(StaticString, String)] = [
        ("topology_apply", "martlet topology apply"), ("worker", "martlet worker"),
        ("dead_letters_list", "martlet dead-letters list"), ("dead_letters_edit", "martlet dead-letters edit"),
        ("dead_letters_import", "martlet dead-letters import"),
    ]

    // MARK: Audit

    private func auditPage(before cursor: Int64?) -> [UInt8] {
        let page = watch.trail.page(before: cursor)
        var json = JSONWriter()
        json.beginObject()
        json.list("records", page.records) { json, record in
            json.beginObject()
            json.member("at", record.at)
            json.member("by", record.by)
            json.member("verb", record.verb)
            json.member("phase", record.phase.rawValue)
            json.optional("outcome", record.outcome?.rawValue)
            for (name, text) in [("why", record.why), ("command", record.command), ("result", record.result)] {
                json.key(name)
                if let text { json.string(text) } else { json.null() }
            }
            json.key("count")
            if let count = record.count { json.int(Int64(count)) } else { json.null() }
            json.member("console", record.console)
            json.member("id", record.id.description)
            json.endObject()
        }
        json.key("next")
        if let next = page.next { json.string("\(next)") } else { json.null() }
        json.endObject()
        return json.bytes
    }
}

// MARK: Actions

extension ConsoleRoutes {
    private var actions: [AdminRoute] {
        [
            AdminRoute(
                .post, "/api/actions", query: ["preview"], "plan or begin an action",
                later: { exchange throws(AdminError) in
                    let session = try desk.session(of: exchange.request)
                    let isPreview = try Self.number(exchange.request, "preview", 0...1) == 1
                    try isPreview ? preview(exchange, session) : begin(exchange, session)
                }),
            route(.get, "/api/actions/ID", "an action") { request, _ throws(AdminError) in
                runner.response(try action(request))
            },
            route(.delete, "/api/actions/ID", "stop an action") { request, session throws(AdminError) in
                let action = try action(request)
                guard action.state == .running else { return runner.response(action) }
                try desk.recheck(session, request, "stop")
                try check(session, runner.role(ofStopping: action.id), "stop")
                guard runner.stop(action.id, by: session.login) else {
                    throw AdminError(
                        409, "the action cannot be stopped: it ends by itself within seconds", code: "not_stoppable")
                }
                return runner.response(action)
            },
        ]
    }

    /// Checks that a session has a role.
    ///
    /// - Parameter what: the name of the request for the audit.
    private func check(_ session: SessionTable.Session, _ role: OperatorRole, _ what: String) throws(AdminError) {
        let login = session.login
        guard login.role >= role else {
            audit.refused("\(what): role \(login.role.rawValue)", by: login.name)
            throw ConsoleErrors.role(role, login.role)
        }
    }

    private func wanted(_ request: AdminRequest) throws(AdminError) -> ActionRequest {
        try ActionRequest(request.body, queues: watch.names.requestQueues, at: loop.now.unixMilliseconds)
    }

    private func plan(_ request: ActionRequest) -> ActionPlan {
        let view = watch.view
        let now = loop.now.monotonic
        var probed = FleetProbe.Plan()
        if case .probe(let probe) = request.action { probed = probe.plan(view, at: now) }
        return ActionPlan(
            request, commands: commands, watch.names, pauses: watch.pauses?.revision,
            workers: view.workers(at: now).count { $0.presence(at: now) == .reporting }, probed: probed)
    }

    private func preview(_ exchange: AdminExchange, _ session: SessionTable.Session) throws(AdminError) {
        let wanted = try wanted(exchange.request)
        if case .messages(let action) = wanted.action {
            let name = "preview of \(wanted.action.name)"
            try desk.recheck(session, exchange.request, name)
            try check(session, wanted.action.role, name)
            guard watch.session != nil else { throw AdminError(503, ConsoleErrors.away, code: "broker") }
            return try runner.preview(
                wanted, action, commands, waiting: history?.waits.flatMap { action.waiting(in: $0) },
                LateAnswer(exchange))
        }
        var json = JSONWriter()
        plan(wanted).write(to: &json)
        exchange.answer(.json(json.bytes))
    }

    /// Begins an action after all checks. They concern the role of the session and of the console, the phrase, and the
    /// state that the preview has shown.
    private func begin(_ exchange: AdminExchange, _ session: SessionTable.Session) throws(AdminError) {
        let wanted = try wanted(exchange.request)
        guard let id = wanted.id else { throw AdminError(400, "id must be a UUID", code: "invalid") }
        let login = session.login
        try desk.recheck(session, exchange.request, wanted.action.name)
        try check(session, wanted.action.role, wanted.action.name)
        if let known = try runner.known(wanted, login, id: id) { return exchange.answer(runner.response(known)) }
        guard watch.session != nil else { throw AdminError(503, ConsoleErrors.away, code: "broker") }
        let preview: ActionPreviews.Entry?
        let plan: ActionPlan?
        if case .messages(let action) = wanted.action {
            if let refusal = runner.busy(action.source) { return exchange.answer(refusal.response) }
            preview = runner.previews.entry(wanted.expect, of: wanted.content, at: loop.now.monotonic)
            plan = preview?.plan
        } else {
            (preview, plan) = (nil, self.plan(wanted))
        }
        if let phrase = plan?.phrase, wanted.phrase != phrase {
            audit.refused("\(wanted.action.name): wrong phrase", by: login.name)
            throw AdminError(403, "type the phrase: \(phrase)", code: "phrase")
        }
        guard let plan, wanted.expect == plan.expect else {
            if case .messages = wanted.action {
                throw AdminError(
                    409, "the plan has expired, or an action has already used it; make a new plan", code: "expired")
            }
            throw AdminError(409, "the state has changed since the plan was made; make a new plan", code: "moved")
        }
        if case .messages(let action) = wanted.action, let preview {
            return try runner.begin(wanted, action, preview, login, id: id, LateAnswer(exchange))
        }
        let revision = watch.pauses?.revision
        exchange.answer(
            runner.response(try runner.begin(wanted, plan, login, id: id, revision: revision), status: 201))
    }

    private func action(_ request: AdminRequest) throws(AdminError) -> ActionTable.Action {
        guard let action = UUIDValue(request.parameter("ID")).flatMap({ runner.table.action($0) }) else {
            throw AdminError(404, "unknown action", code: "unknown")
        }
        return action
    }
}

extension MessageAction {
    /// Returns the number of waiting requests that the action returns; nil for other actions.
    fileprivate func waiting(in waits: [OpenWaits]) -> Int? {
        guard case .resend(let action) = self, case .waits(let code, let apps) = action.choice else { return nil }
        return waits.lazy.filter { (code == nil || $0.code == code) && (apps?.contains($0.app) ?? true) }
            .reduce(0) { $0 + $1.count }
    }
}

extension AdminResponse {
    /// An answer without content.
    static let empty = empty(204)

    static func empty(_ status: Int) -> AdminResponse {
        AdminResponse(status: status, contentType: "application/json", body: [])
    }
}
