"""Infrastructure and clouds: terraform, aws, gcloud, az and the command lines of hosting services.

The subcommands of clouds are too many to list. They are told by their verbs: what lists, describes or shows only
fetches; every other verb changes something. The options of a verb that fetches only choose what is shown.
"""

from __future__ import annotations

SHARED = {
    "terraform": (
        "-help -no-color -json -input=? -lock=? -lock-timeout=? -parallelism=? -compact-warnings -detailed-exitcode "
        "-destroy -refresh-only -refresh=? -replace=? -target=? -var= -var-file=:text -state=? -out=:tfout "
        "-generate-config-out=:tfout -state-out=?!o -backup=?!o -auto-approve -concise -show-sensitive!c "
        "-allow-missing-config"
    ),
    "aws": (
        "--* --region= --output= --query= --no-cli-pager --no-paginate --color= --debug --profile= "
        "--no-sign-request --endpoint-url=!c --no-verify-ssl!c --ca-bundle=!c --cli-connect-timeout= "
        "--cli-read-timeout= --with-decryption!c --cli-auto-prompt --version"
    ),
    "gcloud": (
        "--* -q --project= --format= --filter= --limit= --sort-by= --quiet --verbosity= --region= --zone= --uri "
        "--account=!c --impersonate-service-account=!c --access-token-file=!c --flags-file=!x --configuration= "
        "--billing-project= --log-http!c"
    ),
    "hosting": (
        "-a= -t -n= -d= -s= -o= -q -v --app= --tail --num= --json --dyno= --source= --ps= --format= --output= "
        "--no-header --stack= --diff --non-interactive --cwd=@ --limit= --region= --stage= --env= --prod --yes "
        "--all"
    ),
    "az": (
        "--* -g= -n= -o= -h --output= --query= --resource-group= --name= --subscription= --debug --verbose "
        "--only-show-errors"
    ),
}

ROWS = """
terraform|tofu|terragrunt · read write project fetch dash · - · -version -v -help -h -chdir=?@
terraform plan · project fetch · - · @terraform
terraform validate|terraform fmt · write · :format · @terraform -list=? -write=? -diff -check -recursive -no-tests
 -test-directory=?@
terraform show|terraform graph|terraform providers|terraform version|terraform state list|terraform state
 show|terraform workspace list|terraform workspace show|terraform get|terraform modules|terraform metadata *|terraform
 providers schema · read · - · @terraform -id=? -type=? -draw-cycles -module-depth=? -plan=?
terraform init · project fetch write · ? · @terraform -upgrade -reconfigure -migrate-state!s -force-copy!s -get=?
 -get-plugins=? -lockfile=? -backend=? -backend-config=?!s -from-module=?!x -plugin-dir=?!x -test-directory=?@
 -ignore-remote-version
terraform workspace select|terraform workspace new|terraform providers lock|terraform providers mirror · write fetch ·
 - · @terraform -or-create=? -platform=?
terraform output · read · - · @terraform -raw!c -json!c
terraform apply|terraform destroy|terraform import|terraform refresh|terraform taint|terraform untaint|terraform state
 *|terraform force-unlock|terraform workspace delete|terraform login|terraform logout|terraform console|terraform
 test|terraform push|terraform cloud *|terraform stacks *|terraform query|terraform env * · send program · - ·
 @terraform -allow-missing=? -backup-out=? -dry-run -lock-id=? -ignore-remote-version -force
aws · fetch inherit · - · @aws
aws * list-*|aws * describe-*|aws * get-*|aws * ls|aws * head-*|aws * batch-get-*|aws * search-*|aws * lookup-*|aws *
 filter-*|aws * scan|aws * query|aws * tail|aws * help|aws * validate-*|aws * wait *|aws * select-*|aws *
 simulate-*|aws * estimate-*|aws * check-*|aws * preview-*|aws help|aws history list|aws history show · fetch · :cloud ·
 @aws -h
aws s3 cp|aws s3 mv|aws s3 sync · send · :cloud_copy · @aws
aws s3 presign · fetch secret · - · @aws
aws logs tail · fetch · - · @aws
aws s3 ls|aws configure list|aws configure list-profiles · fetch · :cloud · @aws
aws s3api get-object|aws * get-object · fetch · :last_file · @aws
aws * get-secret-value|aws * get-secret-*|aws * get-parameter|aws * get-parameters|aws * get-parameters-by-path|aws *
 get-session-token|aws * get-federation-token|aws * get-authorization-token|aws * get-login-password|aws *
 get-login|aws * get-password-data|aws * get-random-password|aws * get-role-credentials|aws *
 get-credentials-for-identity|aws * get-open-id-token|aws * get-token|aws * get-access-key-*|aws *
 get-cluster-credentials|aws * assume-*|aws * decrypt|aws * generate-data-key|aws * generate-db-auth-token|aws *
 get-api-key|aws * get-api-keys|aws * list-api-keys|aws * get-instance-access-details|aws configure get|aws configure
 export-credentials · secret · - · @aws
aws sts get-caller-identity|aws ssm get-parameters-by-path|aws ssm get-parameter|aws ssm get-parameters · fetch · :cloud
 · @aws
aws ssm get-* · fetch secret · - · @aws
aws * *|aws configure *|aws login|aws logout|aws sso * · send · :cloud · @aws
aws configure list|aws configure list-profiles · read · - · @aws
aws ssm start-session|aws ecs execute-command|aws lambda invoke|aws ec2-instance-connect ssh|aws eks
 update-kubeconfig|aws emr ssh|aws configure *|aws sso login|aws * create-access-key|aws * create-login-profile ·
 program send secret · - · @aws
gcloud · fetch inherit · - · @gcloud --version --help -h
gcloud info|gcloud version|gcloud help|gcloud config list|gcloud config get|gcloud config get-value|gcloud auth
 list|gcloud topic * · read · - · @gcloud
gcloud ** list|gcloud ** describe|gcloud ** read|gcloud ** tail|gcloud ** get-iam-policy|gcloud ** list-*|gcloud **
 ls|gcloud ** du|gcloud ** search|gcloud ** get-value|gcloud ** get-operation|gcloud ** show · fetch · :cloud
 · @gcloud
gcloud ** print-access-token|gcloud ** print-identity-token|gcloud ** print-refresh-token|gcloud **
 get-credentials|gcloud ** access|gcloud ** get-server-config|gcloud ** generate-* · secret · - · @gcloud
gcloud ** ssh|gcloud ** scp|gcloud ** start-iap-tunnel|gcloud ** login|gcloud ** revoke|gcloud ** activate-*|gcloud **
 set|gcloud ** unset|gcloud ** configure-*|gcloud ** install|gcloud ** execute|gcloud ** submit|gcloud ** deploy|gcloud
 ** call|gcloud ** connect · send program · - · @gcloud
gcloud ** cat · fetch · :cloud_copy · @gcloud
gcloud ** cp|gcloud ** mv|gcloud ** rsync · send · :cloud_copy · @gcloud
gcloud ** create|gcloud ** delete|gcloud ** update|gcloud ** add-*|gcloud ** remove-*|gcloud ** set-*|gcloud **
 start|gcloud ** stop|gcloud ** reset|gcloud ** resize|gcloud ** import|gcloud ** export|gcloud ** rm|gcloud **
 enable|gcloud ** disable|gcloud ** patch|gcloud ** restart|gcloud ** attach-*|gcloud ** detach-*|gcloud **
 restore|gcloud ** suspend|gcloud ** resume|gcloud ** cancel|gcloud ** publish|gcloud ** pull|gcloud ** destroy|gcloud
 ** undelete|gcloud ** move|gcloud ** clone|gcloud ** rollback|gcloud ** promote|gcloud ** failover|gcloud **
 apply|gcloud ** replace|gcloud ** ack · send · :cloud · @gcloud
az · fetch inherit · - · @az --version --help
az version|az account show|az account list|az account list-* · read · - · @az
az ** list|az ** show|az ** list-*|az ** get-*|az ** check-*|az ** exists|az ** query|az ** tail|az ** wait|az **
 show-* · fetch · :cloud · @az
az ** get-access-token|az ** show-connection-string|az ** get-credentials|az ** list-keys|az **
 list-connection-strings|az ** list-secrets|az ** credential *|az ** generate-sas|az ** list-publishing-credentials|az
 ** list-publishing-profiles|az ** list-access-keys|az ** list-account-keys|az ** list-api-keys|az **
 list-admin-keys|az ** show-admin-key|az ** appsettings *|az ** get-secret|az keyvault secret *|az keyvault key *|az
 keyvault certificate *|az ** keys *|az ** key *|az acr login|az ** show-connection-* · secret · - · @az
az ** create|az ** delete|az ** update|az ** add|az ** remove|az ** set|az ** start|az ** stop|az ** restart|az **
 deallocate|az ** purge|az ** deploy|az ** upload|az ** download|az ** import|az ** export|az ** run|az ** invoke|az **
 ssh|az ** exec|az ** up|az ** assign|az ** attach|az ** detach|az ** move|az ** scale|az ** swap|az ** reset|az **
 copy|az ** upgrade|az ** apply|az ** enable|az ** disable|az ** regenerate|az ** rotate|az ** restore|az ** cancel|az
 ** approve|az ** vote|az ** clear|az ** publish|az ** send|az ** patch|az ** post|az ** put|az rest|az login|az
 logout|az configure|az interactive|az upgrade|az extension *|az feedback|az find|az init|az account set|az account
 clear · send program · :cloud · @az
heroku|fly|flyctl|vercel|netlify|wrangler|firebase|railway|supabase|doctl|hcloud|linode-cli|scw|oci|pulumi|cdk|serverless|sls|eb
 · fetch · - · -h -v --help --version -V
heroku logs|heroku ps|heroku apps|heroku apps:info|heroku releases|heroku addons|heroku status|heroku whoami|heroku
 auth:whoami|heroku pg:info|fly status|fly logs|fly apps list|fly version|fly info|fly releases|fly checks list|vercel
 ls|vercel list|vercel inspect|vercel logs|vercel whoami|netlify status|netlify sites:list|wrangler whoami|wrangler
 tail|wrangler deployments *|firebase projects:list|firebase apps:list|railway status|railway logs|railway
 list|supabase status|supabase projects list|doctl * list|doctl * get|doctl * * list|doctl * * get|hcloud * list|hcloud
 * describe|linode-cli * list|linode-cli * view|pulumi stack ls|pulumi whoami|pulumi version|pulumi about|eb status|eb
 list|eb events · fetch · - · @hosting
cdk diff|cdk synth|cdk list|cdk ls · fetch project · - · @hosting -a=!x --app=!x -c= --context= --plugin=!x --strict
 --long -l
pulumi preview|serverless info|serverless print · fetch project · - · @hosting
heroku *|fly *|flyctl *|vercel *|netlify *|wrangler *|firebase *|railway *|supabase *|doctl *|hcloud *|linode-cli *|scw
 *|oci *|pulumi *|cdk *|serverless *|sls *|eb * · send program · - · --*
"""
