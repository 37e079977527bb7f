import Crypto
import Registrations
import SQLite

final class SQLiteBatchJob: SQLiteStoreJob, @unchecked Sendable {
    private let batch: CommandBatch
    private let commands: [RegistrationCommand]
    private let ends: [StoredEnd]
    private let rules: RegistrationRules
    private var outcomes: [CommandOutcome] = []

    init(_ batch: CommandBatch, _ link: SQLiteThreadLink) {
        (self.batch, commands, ends, rules) = (batch, batch.commands, batch.ends, batch.rules)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        outcomes = try session.apply(commands, ends, rules)
    }

    override func succeeded() { batch.completed(outcomes) }

    override func failed(_ fault: StoreFault) { batch.failed(fault) }
}

final class SQLiteEventDeletionJob: SQLiteStoreJob, @unchecked Sendable {
    private let deletion: EventDeletion
    private let ids: [UUIDValue]

    init(_ deletion: EventDeletion, _ link: SQLiteThreadLink) {
        (self.deletion, ids) = (deletion, deletion.ids)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        for id in ids { try session.events.delete(id) }
    }

    override func succeeded() { deletion.completed() }

    override func failed(_ fault: StoreFault) { deletion.failed(fault) }
}

final class SQLiteMaintenanceJob: SQLiteStoreJob, @unchecked Sendable {
    private let maintenance: Maintenance
    private let rules: RegistrationRules
    private let rowsMax: Int
    private var result: SQLiteSession.Round = ([], false, nil)

    init(_ maintenance: Maintenance, _ link: SQLiteThreadLink) {
        (self.maintenance, rules, rowsMax) = (maintenance, maintenance.rules, maintenance.rowsMax)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        result = try session.maintain(rules, rowsMax: rowsMax)
    }

    override func succeeded() {
        if let missingKey = result.missingKey { maintenance.omitted(missingKey) }
        maintenance.completed(result.events, isComplete: result.isComplete)
    }

    override func failed(_ fault: StoreFault) { maintenance.failed(fault) }
}

final class SQLitePageJob: SQLiteStoreJob, @unchecked Sendable {
    private let page: RegistrationPage
    private let filter: RegistrationPage.Filter
    private let after: Registration.Key?
    private let rowsMax: Int
    private var content: SQLiteSession.PageContent = ([], nil)

    init(_ page: RegistrationPage, _ link: SQLiteThreadLink) {
        (self.page, filter, after, rowsMax) = (page, page.filter, page.after, page.rowsMax)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        content = try session.read(filter, after: after, rowsMax: rowsMax)
    }

    override func succeeded() { page.completed(content.registrations, last: content.last) }

    override func failed(_ fault: StoreFault) { page.failed(fault) }
}

final class SQLiteMarkPageJob: SQLiteStoreJob, @unchecked Sendable {
    private let page: MarkPage
    private let after: UUIDValue?
    private let marksMax: Int
    private var marks: [EndMark] = []

    init(_ page: MarkPage, _ link: SQLiteThreadLink) {
        (self.page, after, marksMax) = (page, page.after, page.marksMax)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        marks = try session.marks.marks(after: after, countMax: marksMax)
    }

    override func succeeded() { page.completed(marks) }

    override func failed(_ fault: StoreFault) { page.failed(fault) }
}

final class SQLiteEditJob: SQLiteStoreJob, @unchecked Sendable {
    private let page: EditPage
    private let edit: EditPage.Edit
    private let after: Registration.Key?
    private let rowsMax: Int
    private var result: SQLiteSession.EditResult = (nil, 0, 0)

    init(_ page: EditPage, _ link: SQLiteThreadLink) {
        (self.page, edit, after, rowsMax) = (page, page.edit, page.after, page.rowsMax)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        result = try session.edit(edit, after: after, rowsMax: rowsMax)
    }

    override func succeeded() {
        page.completed(
            last: result.last, editedCount: result.editedCount, unreadableCount: result.unreadableCount)
    }

    override func failed(_ fault: StoreFault) { page.failed(fault) }
}
