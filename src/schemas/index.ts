import { Activity, NewActivity } from './activity.ts'
import { BulkChange, BulkChanged, BulkCreated, BulkItem, BulkResults, BulkTasks } from './bulk.ts'
import { Me } from './caller.ts'
import { Change } from './changes.ts'
import { ClaimedTask, ClaimRenewal, NewClaim, NextClaim, TaskPatch } from './claim-requests.ts'
import { Connection, ConnectionRequest, WebhookSecretOfConnection } from './codehost.ts'
import { Comment, CommentChange, NewComment, WrittenComment } from './comment.ts'
import { Context, TaskBrief } from './context.ts'
import { Delivery, DeliveryTask, DeliveryWithPayload, PushDelivery, PushReceipt } from './delivery.ts'
import { FeedbackIgnored, FeedbackReceipt, WebhookEvent } from './feedback.ts'
import {
  BegunSignIn,
  Identity,
  IdentityProvider,
  IdentityProviderChange,
  IdentityProviderTest,
  InviteAtProvider,
  NewIdentity,
  NewIdentityProvider,
} from './identity-provider.ts'
import { ImportResult } from './import.ts'
import { Invite, InviteAcceptance, InvitePasskey, InviteWithSecret, NewInvite } from './invite.ts'
import { ApiKey, ApiKeyWithSecret, NewApiKey, NewPersonalKey, Rotation } from './key.ts'
import { List, ListChange, NewList } from './list.ts'
import { Notification, ReadNotifications, TaskFollow, UnreadCount } from './notification.ts'
import { FeedbackOverview, Overview, OverviewWeek } from './overview.ts'
import {
  NewPasskey,
  Passkey,
  PasskeyAssertion,
  PasskeyCreationOptions,
  PasskeyRegistration,
  PasskeyRequestOptions,
} from './passkey.ts'
import { FieldError, Problem } from './problem.ts'
import { NewProject, Project, ProjectChange } from './project.ts'
import { Merge, ReportCounts, SimilarTasks, TaskReportCounts } from './report.ts'
import { NewRoutingRule, RoutingRule, RoutingRuleChange, RoutingTest } from './routing.ts'
import { NewRule, Rule, RuleChange, RuleRevert, RuleVersion } from './rule.ts'
import { NewSavedFilter, SavedFilter, SavedFilterChange, SavedQuery } from './saved-filter.ts'
import { NewSession, Session, SignInWays } from './session.ts'
import {
  NewSource,
  Source,
  SourceChange,
  SourceRotation,
  SourceTemplate,
  SourceWithSecret,
} from './source.ts'
import {
  SourceDelivery,
  SourceIgnored,
  SourcePayloadTest,
  SourcePending,
  SourceReceipt,
  SourceTest,
  SourceTestResult,
} from './source-delivery.ts'
import { SourcePreset } from './source-preset.ts'
import { Pipe } from './status.ts'
import { SyncRun } from './sync-run.ts'
import { Actor, Task, TaskListItem, WrittenTask, WrittenTaskSummary } from './task.ts'
import { TaskName } from './task-name.ts'
import { NewTask, NewTaskInBulk, TaskChange } from './task-requests.ts'
import { ChangedUser, NameChange, PasswordChange, Person, User, UserChange } from './user.ts'
import { NewWebhook, Webhook, WebhookChange, WebhookDelivery, WebhookWithSecret } from './webhook.ts'
import { FeedbackReceiver, WebhookSecret, WebhookSecretWithValue } from './webhook-secret.ts'

/** Every schema with an `$id`: the targets of `$ref`, and the components of the API reference. */
export const namedSchemas = [
  FieldError,
  Problem,
  Actor,
  Task,
  WrittenTask,
  WrittenTaskSummary,
  TaskListItem,
  NewTask,
  NewTaskInBulk,
  TaskChange,
  TaskPatch,
  NewClaim,
  NextClaim,
  ClaimRenewal,
  ClaimedTask,
  TaskName,
  SavedQuery,
  SavedFilter,
  NewSavedFilter,
  SavedFilterChange,
  Comment,
  WrittenComment,
  NewComment,
  CommentChange,
  Notification,
  UnreadCount,
  ReadNotifications,
  TaskFollow,
  Merge,
  ReportCounts,
  TaskReportCounts,
  SimilarTasks,
  Overview,
  OverviewWeek,
  FeedbackOverview,
  BulkChange,
  BulkChanged,
  BulkTasks,
  BulkCreated,
  BulkItem,
  BulkResults,
  ImportResult,
  SyncRun,
  Connection,
  ConnectionRequest,
  WebhookSecretOfConnection,
  PushDelivery,
  PushReceipt,
  Delivery,
  DeliveryWithPayload,
  DeliveryTask,
  Project,
  NewProject,
  ProjectChange,
  List,
  NewList,
  ListChange,
  Rule,
  NewRule,
  RuleChange,
  RuleRevert,
  RuleVersion,
  TaskBrief,
  Context,
  Activity,
  Change,
  NewActivity,
  WebhookEvent,
  FeedbackReceipt,
  FeedbackIgnored,
  RoutingRule,
  NewRoutingRule,
  RoutingRuleChange,
  RoutingTest,
  Pipe,
  SourceTest,
  SourceTestResult,
  SourceTemplate,
  SourcePreset,
  Source,
  SourceWithSecret,
  NewSource,
  SourceChange,
  SourcePayloadTest,
  SourceRotation,
  SourceDelivery,
  SourceReceipt,
  SourcePending,
  SourceIgnored,
  Webhook,
  WebhookWithSecret,
  NewWebhook,
  WebhookChange,
  WebhookDelivery,
  Me,
  ApiKey,
  ApiKeyWithSecret,
  NewApiKey,
  NewPersonalKey,
  Rotation,
  Session,
  NewSession,
  SignInWays,
  User,
  ChangedUser,
  UserChange,
  Person,
  NameChange,
  PasswordChange,
  Invite,
  InviteWithSecret,
  NewInvite,
  PasskeyAssertion,
  PasskeyRegistration,
  PasskeyRequestOptions,
  PasskeyCreationOptions,
  Passkey,
  NewPasskey,
  InvitePasskey,
  InviteAcceptance,
  IdentityProvider,
  NewIdentityProvider,
  IdentityProviderChange,
  IdentityProviderTest,
  Identity,
  NewIdentity,
  InviteAtProvider,
  BegunSignIn,
  WebhookSecret,
  WebhookSecretWithValue,
  FeedbackReceiver,
]
